// Tools: whose definition is pinned, and what changed. A change counts when a controller accepts the hash that was shown.
import { post, query } from "../core/api";
import { Confirm } from "../core/confirm";
import { Diff } from "../core/diff";
import { Link } from "../core/link";
import { type Page, useGet } from "../core/load";
import { Pager } from "../core/pager";
import { Absent, Failed, Row } from "../core/parts";
import { roles } from "../core/session";
import { Table } from "../core/table";
import { t } from "../core/text";
import { address, place } from "../core/url";
import { visible } from "../core/visible";

interface Pin {
  server: string;
  tool: string;
  hash: string;
  sequence: number;
  held: boolean;
  changed_hash?: string;
}

interface Shown extends Pin {
  definition_state: string;
  before?: unknown;
  members?: { name: string; before: unknown; after: unknown }[];
}

const text = (value: unknown) => (value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2));

// The address has one part for both names.
function names(id: string): [string, string] {
  const cut = id.indexOf("/");
  return [id.slice(0, cut), id.slice(cut + 1)];
}

function PinPage() {
  const [server, tool] = names(place.value.id);
  const path = `pins/${encodeURIComponent(server)}/${encodeURIComponent(tool)}`;
  const { read, failed, again } = useGet<Shown>(path);
  return (
    <section class="page">
      <p class="pager">
        <Link to={address("tools")}>← {t("nav.tools")}</Link>
      </p>
      <h1>
        {visible(tool)} <span class="quiet">{t("question.on", { server: visible(server) })}</span>
      </h1>
      {failed !== null && <Failed problem={failed} />}
      {!read && failed === null && <p class="quiet">{t("question.loading")}</p>}
      {read && (
        <>
          <dl class="facts">
            <Row name="tools.state">
              <strong class={read.held ? "failed" : "good"} data-held={read.held}>
                {read.held ? t("tools.held") : t("tools.pinned")}
              </strong>
            </Row>
            <Row name="tools.hash">
              <code>{read.hash}</code>
            </Row>
            {read.changed_hash && (
              <Row name="tools.new_hash">
                <code>{read.changed_hash}</code>
              </Row>
            )}
            {read.definition_state !== "open" && (
              <Row name="tools.definition">
                <Absent state={read.definition_state} />
              </Row>
            )}
          </dl>
          {read.members?.map((member) => (
            <>
              <h2>{visible(member.name)}</h2>
              <Diff before={text(member.before)} now={text(member.after)} label={visible(member.name)} />
            </>
          ))}
          {!read.held && read.before !== undefined && (
            <pre class="shown" tabIndex={0} aria-label={t("tools.definition")}>
              {visible(text(read.before))}
            </pre>
          )}
          {read.held && read.definition_state === "open" && roles.value.has("controller") && (
            <Confirm
              label={t("tools.accept")}
              question={t("tools.sure", { tool: visible(tool), hash: read.changed_hash!.slice(0, 10) })}
              act={async (key) => {
                await post(path + "/accept", { hash: read.changed_hash }, key);
                again();
              }}
            />
          )}
        </>
      )}
    </section>
  );
}

function PinList() {
  const { read, failed } = useGet<Page<Pin>>("pins" + query({ cursor: place.value.query.get("cursor") }));
  return (
    <section class="page">
      <h1>{t("nav.tools")}</h1>
      {failed !== null && <Failed problem={failed} />}
      {!read && failed === null && <p class="quiet">{t("question.loading")}</p>}
      {read && read.items.length === 0 && <p class="quiet empty">{t("tools.none")}</p>}
      {read && read.items.length > 0 && (
        <Table label={t("nav.tools")} heads={["tools.server", "tools.tool", "tools.state", "tools.hash"]}>
          {read.items.map((pin) => (
            <tr key={pin.server + "/" + pin.tool}>
              <td>{visible(pin.server)}</td>
              <td>
                <Link to={address("tools", pin.server + "/" + pin.tool)}>{visible(pin.tool)}</Link>
              </td>
              <td>{pin.held ? <strong class="failed">{t("tools.held")}</strong> : t("tools.pinned")}</td>
              <td class="what">{pin.hash.slice(0, 16)}…</td>
            </tr>
          ))}
        </Table>
      )}
      {read && <Pager list={read} />}
    </section>
  );
}

export function Tools() {
  return place.value.id ? <PinPage /> : <PinList />;
}
