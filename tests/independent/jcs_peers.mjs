// Our canonical JSON against two public implementations that share no code with it.
//
//   node jcs_peers.mjs CANONICAL_TOOL
//
// Compared are the examples published with RFC 8785 (jcs/*.json), its table of numbers, and numbers
// and texts made from a fixed seed. The packages are installed once into SALLYPORT_TEST_CACHE.
// Exit: 0 all equal, 1 a difference, 77 the packages could not be had.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const PEERS = { canonicalize: '2.1.0', 'json-canonicalize': '2.0.0' };
const here = dirname(fileURLToPath(import.meta.url));
const cache = resolve(process.env.SALLYPORT_TEST_CACHE ?? join(here, '..', '..', '.cache', 'npm'));

function install() {
  const there = (name) => {
    const file = join(cache, 'node_modules', name, 'package.json');
    return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === PEERS[name];
  };
  if (Object.keys(PEERS).every(there)) return;
  mkdirSync(cache, { recursive: true });
  // Without a package file of its own npm would install into the nearest one above.
  const manifest = join(cache, 'package.json');
  if (!existsSync(manifest)) writeFileSync(manifest, '{"private":true}\n');
  const wanted = Object.entries(PEERS).map(([name, version]) => `${name}@${version}`);
  const done = spawnSync(
    'npm',
    ['install', '--prefix', cache, '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1',
      ...wanted],
    { encoding: 'utf8', timeout: 120000 });
  if (done.status === 0 && Object.keys(PEERS).every(there)) return;
  const said = (done.stderr || done.error?.message || 'npm failed').trim().split('\n');
  const reason = said.find((line) => line.startsWith('npm error')) ?? said[0];
  console.log(`SKIPPED: ${wanted.join(' and ')} could not be installed: ${reason}`);
  process.exit(77);
}

async function peers() {
  const require = createRequire(join(cache, 'package.json'));
  const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
  const one = await load('canonicalize');
  const two = await load('json-canonicalize');
  const function_of = (module, name) =>
    [module[name], module.default, module.default?.[name], module.default?.default]
      .find((candidate) => typeof candidate === 'function');
  return {
    canonicalize: function_of(one, 'canonicalize'),
    'json-canonicalize': function_of(two, 'canonicalize'),
  };
}

// A line of JSON may not hold a line end; outside of strings it is white space.
const one_line = (text) => text.replace(/[\r\n]+/g, ' ').trim();

function published() {
  const folder = join(here, 'jcs');
  return readdirSync(folder).filter((name) => name.endsWith('.json')).sort()
    .map((name) => one_line(readFileSync(join(folder, name), 'utf8')));
}

// RFC 8785 appendix B: the bits of a double and the only text it may have.
const NUMBERS = [
  ['0000000000000000', '0'], ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'], ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'], ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'], ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'], ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'], ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'], ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'], ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'], ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'], ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

function double(high, low) {
  const view = new DataView(new ArrayBuffer(8));
  view.setUint32(0, high);
  view.setUint32(4, low);
  return view.getFloat64(0);
}

// xorshift: the same numbers in every run.
let state = 0x9e3779b9;
function random() {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
}

const notations = [
  (n) => String(n),
  (n) => n.toExponential(),
  (n) => n.toPrecision(17),
  (n) => n.toExponential(20).toUpperCase(),
  (n) => (Math.abs(n) < 1e21 ? n.toFixed(20) : String(n)),
];

function generated_numbers(count) {
  const texts = [];
  const add = (n) => {
    if (Number.isFinite(n)) texts.push(`[${notations[texts.length % notations.length](n)}]`);
  };
  for (let power = -330; power <= 308; ++power) {
    for (const digits of ['1', '-1', '9.5', '123456789', '4.35', '9007199254740993']) {
      const text = `${digits}e${power}`;
      if (Number.isFinite(Number(text))) texts.push(`[${text}]`);
    }
  }
  for (let bit = 0; bit < 70; ++bit) for (const by of [-1, 0, 1]) add(2 ** bit + by);
  while (texts.length < count) {
    add(double(random(), random()));
    add((random() - 2 ** 31) / 2 ** (random() % 40));
    add(random() % 100000 / 10 ** (random() % 12));
  }
  return texts;
}

function generated_objects(count) {
  const pieces = ['a', 'A', '1', '10', '', '\u0000', '\n', '"', '\\', '/', '\u007f', '\u0080', '\u00e9',
    '\u20ac', '\ud7ff', '\ue000', '\ufb33', '\uffff', '\u{10000}', '\u{1f600}', '\u{10ffff}', '__x'];
  const text = () => Array.from({ length: random() % 4 }, () => pieces[random() % pieces.length]).join('');
  const value = (depth) => {
    const kind = random() % (depth > 3 ? 4 : 6);
    if (kind === 4) return Array.from({ length: random() % 4 }, () => value(depth + 1));
    if (kind === 5) {
      return Object.fromEntries(Array.from({ length: random() % 6 }, () => [text(), value(depth + 1)]));
    }
    return [null, random() % 2 === 0, random() / 1000, text()][kind];
  };
  return Array.from({ length: count }, () => JSON.stringify([value(0)]));
}

function main(functions, tool) {
  const tables = NUMBERS.map(([bits, wanted]) => {
    const number = double(parseInt(bits.slice(0, 8), 16), parseInt(bits.slice(8), 16));
    return { text: `[${number.toPrecision(17)}]`, wanted: `[${wanted}]` };
  });
  const cases = [
    ...published().map((text) => ({ text })), ...tables,
    ...generated_numbers(20000).map((text) => ({ text })),
    ...generated_objects(5000).map((text) => ({ text })),
  ];
  const ours = execFileSync(tool, {
    input: cases.map(({ text }) => text).join('\n') + '\n', encoding: 'utf8', maxBuffer: 1 << 28,
  }).split('\n');
  let differences = 0;
  cases.forEach(({ text, wanted }, index) => {
    const value = JSON.parse(text);
    const answers = Object.entries(functions).map(([name, canonical]) => [name, canonical(value)]);
    if (wanted !== undefined) answers.push(['RFC 8785', wanted]);
    for (const [name, answer] of answers) {
      if (answer === ours[index]) continue;
      if (++differences <= 20) console.log(`${text}\n  ours: ${ours[index]}\n  ${name}: ${answer}`);
    }
  });
  if (ours.length !== cases.length + 1) {
    console.log(`the tool answered ${ours.length - 1} of ${cases.length} lines`);
    differences += 1;
  }
  console.log(`${cases.length} texts, ${Object.keys(functions).length} peers, ${differences} differences`);
  return differences === 0 ? 0 : 1;
}

if (process.argv.length !== 3) {
  console.error('usage: node jcs_peers.mjs CANONICAL_TOOL');
  process.exit(64);
}
install();
process.exit(main(await peers(), resolve(process.argv[2])));
