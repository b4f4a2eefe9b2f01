// Grants: the tree of tokens, with the uses and holds of each. A controller can revoke a token and gives a reason.
import { useState } from "preact/hooks";
import { post, query } from "../core/api";
import { Confirm } from "../core/confirm";
import { Link } from "../core/link";
import { type Page, useGet } from "../core/load";
import { Pager } from "../core/pager";
import { Failed, Row } from "../core/parts";
import { roles } from "../core/session";
import { Table } from "../core/table";
import { number, t, time, word } from "../core/text";
import { address, place } from "../core/url";
import { visible } from "../core/visible";

interface Grant {
  grant_id: string;
  grant_digest: string;
  parent: string | null;
  issuer: string;
  principal: string;
  issued_at: number;
  expires_at: number;
  grants: number;
  origin: string;
  uses: number;
  holds: number;
  state: string;
  children?: string[];
}

const timeText = (second: number) => time(new Date(second * 1000).toISOString());
const stateClass = (state: string) => (state === "valid" ? "good" : state === "revoked" ? "failed" : "quiet");
const stateWord = (state: string) => word("grant", state.replaceAll(" ", "_"));

interface TreeRow {
  grant: Grant;
  depth: number;
}

// Parents come before their children. A token is a root if the list does not have its parent.
export function treeRows(grants: Grant[]): TreeRow[] {
  const digests = new Set(grants.map((grant) => grant.grant_digest));
  const rows: TreeRow[] = [];
  const seen = new Set<string>();
  const add = (grant: Grant, depth: number) => {
    if (seen.has(grant.grant_digest)) return;
    seen.add(grant.grant_digest);
    rows.push({ grant, depth });
    for (const child of grants) if (child.parent === grant.grant_digest) add(child, depth + 1);
  };
  for (const grant of grants) if (grant.parent === null || !digests.has(grant.parent)) add(grant, 0);
  for (const grant of grants) add(grant, 0);
  return rows;
}

function GrantList() {
  const { data, error } = useGet<Page<Grant>>("grants" + query({ limit: 500, cursor: place.value.query.get("cursor") }));
  return (
    <section class="page">
      <h1>{t("nav.grants")}</h1>
      {error !== null && <Failed problem={error} />}
      {!data && error === null && <p class="quiet">{t("question.loading")}</p>}
      {data && data.items.length === 0 && <p class="quiet empty">{t("grants.none")}</p>}
      {data && data.items.length > 0 && (
        <Table label={t("nav.grants")} heads={["grants.principal", "grants.state", "grants.uses", "grants.holds", "grants.expires", "grants.origin"]}>
          {treeRows(data.items).map(({ grant, depth }) => (
            <tr key={grant.grant_id} data-depth={depth}>
              <td>
                {"↳ ".repeat(Math.min(depth, 8))}
                <Link to={address("grants", grant.grant_id)}>{visible(grant.principal)}</Link>
              </td>
              <td>
                <span class={stateClass(grant.state)}>{stateWord(grant.state)}</span>
              </td>
              <td>{number(grant.uses)}</td>
              <td>{number(grant.holds)}</td>
              <td class="fixed">{timeText(grant.expires_at)}</td>
              <td>{word("origin", grant.origin)}</td>
            </tr>
          ))}
        </Table>
      )}
      {data && <Pager list={data} />}
    </section>
  );
}

function GrantPage() {
  const { id } = place.value;
  const path = `grants/${encodeURIComponent(id)}`;
  const { data, error, reload } = useGet<Grant>(path);
  const [reason, setReason] = useState("");
  return (
    <section class="page">
      <p class="pager">
        <Link to={address("grants")}>← {t("nav.grants")}</Link>
      </p>
      <h1>{data ? visible(data.principal) : visible(id)}</h1>
      {error !== null && <Failed problem={error} />}
      {!data && error === null && <p class="quiet">{t("question.loading")}</p>}
      {data && (
        <>
          <dl class="facts">
            <Row name="grants.state">
              <strong class={stateClass(data.state)} data-state={data.state}>
                {stateWord(data.state)}
              </strong>
            </Row>
            <Row name="grants.id">
              <code>{data.grant_id}</code>
            </Row>
            <Row name="grants.issuer">
              <code>{visible(data.issuer)}</code>
            </Row>
            <Row name="grants.expires">{timeText(data.expires_at)}</Row>
            <Row name="grants.uses">{number(data.uses)}</Row>
            <Row name="grants.holds">{number(data.holds)}</Row>
            {data.parent && (
              <Row name="grants.parent">
                <code>{data.parent}</code>
              </Row>
            )}
            {data.children && data.children.length > 0 && (
              <Row name="grants.children">
                {data.children.map((child) => (
                  <>
                    <Link to={address("grants", child)}>{child.slice(0, 13)}…</Link>{" "}
                  </>
                ))}
              </Row>
            )}
          </dl>
          {data.state !== "revoked" && roles.value.has("controller") && (
            <Confirm
              label={t("grants.revoke")}
              question={t("grants.sure", { principal: visible(data.principal) })}
              disabled={reason.trim() === ""}
              act={async (key) => {
                await post(path + "/revoke", { reason }, key);
                reload();
              }}
            >
              <label>
                <span>{t("grants.reason")}</span>
                <input type="text" name="reason" value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
              </label>
            </Confirm>
          )}
        </>
      )}
    </section>
  );
}

export function Grants() {
  return place.value.id ? <GrantPage /> : <GrantList />;
}
