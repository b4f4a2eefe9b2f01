// Tools: the pinned definition of each, and its changes. A change takes effect when a controller accepts its hash.
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

interface PinDetail extends Pin {
  definition_state: string;
  before?: unknown;
  members?: { name: string; before: unknown; after: unknown }[];
}

const valueText = (value: unknown) => (value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2));

// Splits `server/tool`, one part of the address.
function splitId(id: string): [string, string] {
  const slash = id.indexOf("/");
  return [id.slice(0, slash), id.slice(slash + 1)];
}

function PinPage() {
  const [server, tool] = splitId(place.value.id);
  const path = `pins/${encodeURIComponent(server)}/${encodeURIComponent(tool)}`;
  const { data, error, reload } = useGet<PinDetail>(path);
  return (
    <section class="page">
      <p class="pager">
        <Link to={address("tools")}>← {t("nav.tools")}</Link>
      </p>
      <h1>
        {visible(tool)} <span class="quiet">{t("question.on", { server: visible(server) })}</span>
      </h1>
      {error !== null && <Failed problem={error} />}
      {!data && error === null && <p class="quiet">{t("question.loading")}</p>}
      {data && (
        <>
          <dl class="facts">
            <Row name="tools.state">
              <strong class={data.held ? "failed" : "good"} data-held={data.held}>
                {data.held ? t("tools.held") : t("tools.pinned")}
              </strong>
            </Row>
            <Row name="tools.hash">
              <code>{data.hash}</code>
            </Row>
            {data.changed_hash && (
              <Row name="tools.new_hash">
                <code>{data.changed_hash}</code>
              </Row>
            )}
            {data.definition_state !== "open" && (
              <Row name="tools.definition">
                <Absent state={data.definition_state} />
              </Row>
            )}
          </dl>
          {data.members?.map((member) => (
            <>
              <h2>{visible(member.name)}</h2>
              <Diff before={valueText(member.before)} now={valueText(member.after)} label={visible(member.name)} />
            </>
          ))}
          {!data.held && data.before !== undefined && (
            <pre class="shown" tabIndex={0} aria-label={t("tools.definition")}>
              {visible(valueText(data.before))}
            </pre>
          )}
          {data.held && data.definition_state === "open" && roles.value.has("controller") && (
            <Confirm
              label={t("tools.accept")}
              question={t("tools.sure", { tool: visible(tool), hash: data.changed_hash!.slice(0, 10) })}
              act={async (key) => {
                await post(path + "/accept", { hash: data.changed_hash }, key);
                reload();
              }}
            />
          )}
        </>
      )}
    </section>
  );
}

function PinList() {
  const { data, error } = useGet<Page<Pin>>("pins" + query({ cursor: place.value.query.get("cursor") }));
  return (
    <section class="page">
      <h1>{t("nav.tools")}</h1>
      {error !== null && <Failed problem={error} />}
      {!data && error === null && <p class="quiet">{t("question.loading")}</p>}
      {data && data.items.length === 0 && <p class="quiet empty">{t("tools.none")}</p>}
      {data && data.items.length > 0 && (
        <Table label={t("nav.tools")} heads={["tools.server", "tools.tool", "tools.state", "tools.hash"]}>
          {data.items.map((pin) => (
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
      {data && <Pager list={data} />}
    </section>
  );
}

export function Tools() {
  return place.value.id ? <PinPage /> : <PinList />;
}
