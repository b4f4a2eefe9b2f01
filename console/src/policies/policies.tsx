// All policies that were in force, newest first. A person can compare two of them. A controller can edit.
import { query } from "../core/api";
import { Diff } from "../core/diff";
import { Link } from "../core/link";
import { type Page, useGet } from "../core/load";
import { Pager } from "../core/pager";
import { Absent, Failed, Row } from "../core/parts";
import { roles } from "../core/session";
import { Table } from "../core/table";
import { t, time } from "../core/text";
import { address, place, setFilters } from "../core/url";
import { visible } from "../core/visible";
import { Editor } from "./editor";

interface Loaded {
  hash: string;
  source: string;
  who: string;
  loaded_at: string;
  sequence: number;
  in_force: boolean;
}

export interface Policies extends Page<Loaded> {
  drafts: string[];
  writes: string;
  is_file: boolean;
}

export interface PolicyText {
  hash: string;
  text: string | null;
  text_state: string;
  in_force: boolean;
  source?: string;
  extends: { name: string; text: string } | null;
}

export const shortHash = (hash: string) => hash.slice(0, 15) + "…";

function Comparison({ policy, other }: { policy: PolicyText; other: string }) {
  const { data: before, error } = useGet<PolicyText>(`policies/${encodeURIComponent(other)}`);
  if (error !== null) return <Failed problem={error} />;
  if (!before) return <p class="quiet">{t("question.loading")}</p>;
  if (before.text === null || policy.text === null) return <Absent state={before.text_state} />;
  return <Diff before={before.text} now={policy.text} label={t("policies.differs", { hash: shortHash(other) })} />;
}

function PolicyPage() {
  const { id, query: search } = place.value;
  const { data, error } = useGet<PolicyText>(`policies/${encodeURIComponent(id)}`);
  const list = useGet<Policies>("policies?limit=500");
  const other = search.get("with") ?? "";
  return (
    <section class="page">
      <p class="pager">
        <Link to={address("policies")}>← {t("nav.policies")}</Link>
      </p>
      <h1>
        <code>{shortHash(visible(id))}</code>
      </h1>
      {error !== null && <Failed problem={error} />}
      {!data && error === null && <p class="quiet">{t("question.loading")}</p>}
      {data && (
        <>
          <dl class="facts">
            <Row name="policies.state">{data.in_force ? <strong class="good">{t("policies.in_force")}</strong> : t("policies.was")}</Row>
            {data.source && <Row name="policies.source">{visible(data.source)}</Row>}
            {data.extends && <Row name="policies.extends">{visible(data.extends.name)}</Row>}
            <Row name="policies.hash">
              <code>{data.hash}</code>
            </Row>
          </dl>
          <label class="inline">
            <span>{t("policies.compare")}</span>
            <select value={other} onChange={(event) => setFilters({ with: event.currentTarget.value })}>
              <option value="">{t("policies.nothing")}</option>
              {list.data?.items
                .filter((one) => one.hash !== data.hash)
                .map((one) => (
                  <option value={one.hash}>
                    {time(one.loaded_at)} {shortHash(one.hash)}
                  </option>
                ))}
            </select>
          </label>
          {other !== "" && <Comparison policy={data} other={other} />}
          {other === "" && data.text === null && <Absent state={data.text_state} />}
          {other === "" && data.text !== null && (
            <pre class="shown" tabIndex={0} aria-label={t("policies.text")}>
              {visible(data.text)}
            </pre>
          )}
        </>
      )}
    </section>
  );
}

function PolicyList() {
  const { data, error } = useGet<Policies>("policies" + query({ cursor: place.value.query.get("cursor") }));
  const mayEdit = roles.value.has("controller");
  return (
    <section class="page">
      <h1>{t("nav.policies")}</h1>
      {error !== null && <Failed problem={error} />}
      {!data && error === null && <p class="quiet">{t("question.loading")}</p>}
      {data && (
        <>
          <p class="quiet">{t(data.writes === "activate" ? "policies.activates" : data.writes === "propose" ? "policies.proposes" : "policies.read_only")}</p>
          {mayEdit && (
            <p class="pager">
              <Link to={address("policies", "edit")}>{t("policies.edit")}</Link>
              {data.drafts.map((name) => (
                <Link to={address("policies", "edit", { draft: name })}>{t("policies.draft", { name })}</Link>
              ))}
            </p>
          )}
          <Table label={t("nav.policies")} heads={["policies.loaded", "policies.hash", "policies.source", "policies.who", "policies.state"]}>
            {data.items.map((one) => (
              <tr key={one.hash}>
                <td class="fixed">{time(one.loaded_at)}</td>
                <td class="what">
                  <Link to={address("policies", one.hash)}>{shortHash(one.hash)}</Link>
                </td>
                <td>{visible(one.source)}</td>
                <td>{visible(one.who)}</td>
                <td>{one.in_force ? <strong class="good">{t("policies.in_force")}</strong> : t("policies.was")}</td>
              </tr>
            ))}
          </Table>
          <Pager list={data} />
        </>
      )}
    </section>
  );
}

export function PoliciesScreen() {
  const { id } = place.value;
  if (id === "edit" && roles.value.has("controller")) return <Editor key={place.value.query.get("draft") ?? ""} />;
  return id ? <PolicyPage /> : <PolicyList />;
}
