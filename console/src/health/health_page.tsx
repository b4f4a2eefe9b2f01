// Is the gate well, since when not, and how much has it written.
import { Row } from "../core/parts";
import { health } from "../core/health";
import { number, t, time, word } from "../core/text";

export function HealthPage() {
  const told = health.value;
  return (
    <section class="page">
      <h1>{t("nav.health")}</h1>
      {!told && <p class="quiet empty">{t("question.loading")}</p>}
      {told && (
        <dl class="facts">
          <Row name="health.state">
            <strong class={told.banner.length === 0 ? "good" : "failed"}>{told.banner.length === 0 ? `✓ ${t("health.well")}` : `✗ ${t("health.ill")}`}</strong>
          </Row>
          {told.banner.map((row) => (
            <Row name="health.trouble">
              {word("banner", row.kind)} {row.detail} {row.since && t("banner.since", { time: time(row.since) })}
            </Row>
          ))}
          <Row name="health.size">{number(told.size)}</Row>
          <Row name="health.version">{told.version}</Row>
        </dl>
      )}
    </section>
  );
}
