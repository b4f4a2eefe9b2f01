// Grants: a tree of tokens with what was spent of each. A controller revokes one and says why.
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

const at = (second: number) => time(new Date(second * 1000).toISOString());
const stateClass = (state: string) => (state === "valid" ? "good" : state === "revoked" ? "failed" : "quiet");
const stateWord = (state: string) => word("grant", state.replaceAll(" ", "_"));

interface Placed {
  grant: Grant;
  depth: number;
}

// Parents stand before their children. A token whose parent is not in the list is a root here.
export function tree(grants: Grant[]): Placed[] {
  const known = new Set(grants.map((grant) => grant.grant_digest));
  const placed: Placed[] = [];
  const seen = new Set<string>();
  const put = (grant: Grant, depth: number) => {
    if (seen.has(grant.grant_digest)) return;
    seen.add(grant.grant_digest);
    placed.push({ grant, depth });
    for (const child of grants) if (child.parent === grant.grant_digest) put(child, depth + 1);
  };
  for (const grant of grants) if (grant.parent === null || !known.has(grant.parent)) put(grant, 0);
  for (const grant of grants) put(grant, 0);
  return placed;
}

function GrantList() {
  const { read, failed } = useGet<Page<Grant>>("grants" + query({ limit: 500, cursor: place.value.query.get("cursor") }));
  return (
    <section class="page">
      <h1>{t("nav.grants")}</h1>
      {failed !== null && <Failed problem={failed} />}
      {!read && failed === null && <p class="quiet">{t("question.loading")}</p>}
      {read && read.items.length === 0 && <p class="quiet empty">{t("grants.none")}</p>}
      {read && read.items.length > 0 && (
        <Table label={t("nav.grants")} heads={["grants.principal", "grants.state", "grants.uses", "grants.holds", "grants.expires", "grants.origin"]}>
          {tree(read.items).map(({ grant, depth }) => (
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
              <td class="fixed">{at(grant.expires_at)}</td>
              <td>{word("origin", grant.origin)}</td>
            </tr>
          ))}
        </Table>
      )}
      {read && <Pager list={read} />}
    </section>
  );
}

function GrantPage() {
  const { id } = place.value;
  const path = `grants/${encodeURIComponent(id)}`;
  const { read, failed, again } = useGet<Grant>(path);
  const [reason, setReason] = useState("");
  return (
    <section class="page">
      <p class="pager">
        <Link to={address("grants")}>← {t("nav.grants")}</Link>
      </p>
      <h1>{read ? visible(read.principal) : visible(id)}</h1>
      {failed !== null && <Failed problem={failed} />}
      {!read && failed === null && <p class="quiet">{t("question.loading")}</p>}
      {read && (
        <>
          <dl class="facts">
            <Row name="grants.state">
              <strong class={stateClass(read.state)} data-state={read.state}>
                {stateWord(read.state)}
              </strong>
            </Row>
            <Row name="grants.id">
              <code>{read.grant_id}</code>
            </Row>
            <Row name="grants.issuer">
              <code>{visible(read.issuer)}</code>
            </Row>
            <Row name="grants.expires">{at(read.expires_at)}</Row>
            <Row name="grants.uses">{number(read.uses)}</Row>
            <Row name="grants.holds">{number(read.holds)}</Row>
            {read.parent && (
              <Row name="grants.parent">
                <code>{read.parent}</code>
              </Row>
            )}
            {read.children && read.children.length > 0 && (
              <Row name="grants.children">
                {read.children.map((child) => (
                  <>
                    <Link to={address("grants", child)}>{child.slice(0, 13)}…</Link>{" "}
                  </>
                ))}
              </Row>
            )}
          </dl>
          {read.state !== "revoked" && roles.value.has("controller") && (
            <Confirm
              label={t("grants.revoke")}
              question={t("grants.sure", { principal: visible(read.principal) })}
              disabled={reason.trim() === ""}
              act={async (key) => {
                await post(path + "/revoke", { reason }, key);
                again();
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
