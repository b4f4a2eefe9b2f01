// Policies that were in force, the newest first. Two of them can be compared; a controller edits.
import { query } from "../core/api";
import { Diff } from "../core/diff";
import { Link } from "../core/link";
import { type Page, useGet } from "../core/load";
import { Pager } from "../core/pager";
import { Absent, Failed, Row } from "../core/parts";
import { roles } from "../core/session";
import { Table } from "../core/table";
import { t, time } from "../core/text";
import { address, filter, place } from "../core/url";
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

export const short = (hash: string) => hash.slice(0, 15) + "…";

function Compared({ read, other }: { read: PolicyText; other: string }) {
  const { read: before, failed } = useGet<PolicyText>(`policies/${encodeURIComponent(other)}`);
  if (failed !== null) return <Failed problem={failed} />;
  if (!before) return <p class="quiet">{t("question.loading")}</p>;
  if (before.text === null || read.text === null) return <Absent state={before.text_state} />;
  return <Diff before={before.text} now={read.text} label={t("policies.differs", { hash: short(other) })} />;
}

function PolicyPage() {
  const { id, query: search } = place.value;
  const { read, failed } = useGet<PolicyText>(`policies/${encodeURIComponent(id)}`);
  const list = useGet<Policies>("policies?limit=500");
  const other = search.get("with") ?? "";
  return (
    <section class="page">
      <p class="pager">
        <Link to={address("policies")}>← {t("nav.policies")}</Link>
      </p>
      <h1>
        <code>{short(visible(id))}</code>
      </h1>
      {failed !== null && <Failed problem={failed} />}
      {!read && failed === null && <p class="quiet">{t("question.loading")}</p>}
      {read && (
        <>
          <dl class="facts">
            <Row name="policies.state">{read.in_force ? <strong class="good">{t("policies.in_force")}</strong> : t("policies.was")}</Row>
            {read.source && <Row name="policies.source">{visible(read.source)}</Row>}
            {read.extends && <Row name="policies.extends">{visible(read.extends.name)}</Row>}
            <Row name="policies.hash">
              <code>{read.hash}</code>
            </Row>
          </dl>
          <label class="inline">
            <span>{t("policies.compare")}</span>
            <select value={other} onChange={(event) => filter({ with: event.currentTarget.value })}>
              <option value="">{t("policies.nothing")}</option>
              {list.read?.items
                .filter((one) => one.hash !== read.hash)
                .map((one) => (
                  <option value={one.hash}>
                    {time(one.loaded_at)} {short(one.hash)}
                  </option>
                ))}
            </select>
          </label>
          {other !== "" && <Compared read={read} other={other} />}
          {other === "" && read.text === null && <Absent state={read.text_state} />}
          {other === "" && read.text !== null && (
            <pre class="shown" tabIndex={0} aria-label={t("policies.text")}>
              {visible(read.text)}
            </pre>
          )}
        </>
      )}
    </section>
  );
}

function PolicyList() {
  const { read, failed } = useGet<Policies>("policies" + query({ cursor: place.value.query.get("cursor") }));
  const edits = roles.value.has("controller");
  return (
    <section class="page">
      <h1>{t("nav.policies")}</h1>
      {failed !== null && <Failed problem={failed} />}
      {!read && failed === null && <p class="quiet">{t("question.loading")}</p>}
      {read && (
        <>
          <p class="quiet">{t(read.writes === "activate" ? "policies.activates" : read.writes === "propose" ? "policies.proposes" : "policies.read_only")}</p>
          {edits && (
            <p class="pager">
              <Link to={address("policies", "edit")}>{t("policies.edit")}</Link>
              {read.drafts.map((name) => (
                <Link to={address("policies", "edit", { draft: name })}>{t("policies.draft", { name })}</Link>
              ))}
            </p>
          )}
          <Table label={t("nav.policies")} heads={["policies.loaded", "policies.hash", "policies.source", "policies.who", "policies.state"]}>
            {read.items.map((one) => (
              <tr key={one.hash}>
                <td class="fixed">{time(one.loaded_at)}</td>
                <td class="what">
                  <Link to={address("policies", one.hash)}>{short(one.hash)}</Link>
                </td>
                <td>{visible(one.source)}</td>
                <td>{visible(one.who)}</td>
                <td>{one.in_force ? <strong class="good">{t("policies.in_force")}</strong> : t("policies.was")}</td>
              </tr>
            ))}
          </Table>
          <Pager list={read} />
        </>
      )}
    </section>
  );
}

export function PoliciesScreen() {
  const { id } = place.value;
  if (id === "edit" && roles.value.has("controller")) return <Editor />;
  return id ? <PolicyPage /> : <PolicyList />;
}
