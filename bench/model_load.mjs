// Many streamed chat completions at once over kept-alive connections. Each line of the input is one job, each line of the output its result.
//   {"url", "headers", "body", "streams", "seconds"}        -> {"first", "total" (us, one number a stream), "text" (bytes in each answer), "wall_us"}
//   {..., "quarters": true}                                 -> and "quarters": us for each quarter of the bytes of the answer
//   {"url", "headers", "body", "hold": N, "seconds"}        -> {"held": N} once so many streams have their first byte; they stay open
//   {"release": true}                                       -> {"released": N}
// The next job starts when the one before it is done. A job that is late ends the program.
import net from 'node:net';
import readline from 'node:readline';

const now = () => Number(process.hrtime.bigint()) / 1000;
const RESTED = 3e6;  // us; servers close connections that rest for some seconds, so those are not used again
const AT_ONCE = 256; // connections that are being opened
const pools = new Map();
let held = [];

class Connection {
  constructor(url) {
    this.url = url;
    this.rested = now();
    this.dead = false;
  }

  open() {
    return new Promise((done, bad) => {
      this.socket = net.connect({ host: this.url.hostname, port: this.url.port, noDelay: true }, () => done(this));
      this.socket.on('error', (error) => { this.dead = true; this.end?.(error); bad(error); });
      this.socket.on('close', () => { this.dead = true; this.end?.(new Error('the other side closed the connection')); });
      this.socket.on('data', (part) => this.take(part));
    });
  }

  // Resolves with the result when the answer is whole, or, for a stream that is held, with its first byte.
  ask(request, hold) {
    this.parts = []; this.ends = []; this.tail = ''; this.hold = hold; this.head = ''; this.first = 0;
    return new Promise((done, bad) => {
      this.end = (error) => { this.end = undefined; error ? bad(error) : done(this); };
      this.started = now();
      this.socket.write(request);
    });
  }

  take(part) {
    if (!this.end) return;
    if (!this.first) {
      this.head += part.toString('latin1');
      const end = this.head.indexOf('\r\n\r\n');
      if (end < 0) return;
      if (!/^HTTP\/1\.1 200 /.test(this.head) || !/\r\ntransfer-encoding: *chunked/i.test(this.head)) return this.end(new Error(this.head.slice(0, 600)));
      if (this.head.length === end + 4) return;  // the head alone is no byte of the answer
      this.first = now() - this.started;
      part = Buffer.from(this.head.slice(end + 4), 'latin1');
      this.head = '';
      if (this.hold) return this.end();
    }
    this.parts.push(part);
    this.ends.push(now() - this.started);
    this.tail = (this.tail + part.toString('latin1', Math.max(0, part.length - 7))).slice(-7);
    if (this.tail !== '\r\n0\r\n\r\n') return;
    this.total = now() - this.started;
    this.rested = now();
    this.end();
  }
}

function content(chunked) {
  const parts = [];
  for (let at = 0; at < chunked.length;) {
    const end = chunked.indexOf('\r\n', at);
    const size = parseInt(chunked.toString('latin1', at, end), 16);
    if (!size) break;
    parts.push(chunked.subarray(end + 2, end + 2 + size));
    at = end + 4 + size;
  }
  return Buffer.concat(parts).toString('latin1');
}

// When each quarter of the bytes had come, as lengths of time.
function quarters(connection) {
  const size = connection.parts.reduce((sum, part) => sum + part.length, 0);
  const marks = [];
  let seen = 0;
  connection.parts.forEach((part, i) => {
    seen += part.length;
    while (marks.length < 4 && seen >= (size * (marks.length + 1)) / 4) marks.push(connection.ends[i]);
  });
  return marks.map((mark, i) => mark - (i ? marks[i - 1] : connection.first));
}

async function connections(job, url, count) {
  const key = job.url;
  const pool = (pools.get(key) ?? []).filter((one) => {
    if (!one.dead && now() - one.rested < RESTED) return true;
    one.socket.destroy();
    return false;
  });
  pools.set(key, pool);
  while (pool.length < count)
    pool.push(...await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - pool.length) }, () => new Connection(url).open())));
  return pool.slice(0, count);
}

const requestOf = (job, url) => {
  const body = Buffer.from(job.body);
  const headers = { host: url.host, 'content-type': 'application/json', 'content-length': body.length, ...job.headers };
  return Buffer.concat([Buffer.from(`POST ${url.pathname} HTTP/1.1\r\n${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`), body]);
};

async function load(job) {
  const url = new URL(job.url);
  const request = requestOf(job, url);
  const used = await connections(job, url, job.streams);
  const start = now();
  try {
    await Promise.all(used.map((one) => one.ask(request, false)));
  } catch (error) {
    for (const one of pools.get(job.url)) one.socket.destroy();
    pools.delete(job.url);
    throw error;
  }
  const wall_us = now() - start;
  // A gate that holds text back moves it into a later delta, so that the text counts and not its pieces.
  const said = new Set(used.map((one) => [...content(Buffer.concat(one.parts)).matchAll(/"content": ?"([^"]*)"/g)].map((found) => found[1]).join('')));
  if (said.size !== 1) throw new Error(`${used.length} answers have ${said.size} texts`);
  const result = { first: used.map((one) => one.first), total: used.map((one) => one.total), text: [...said][0].length, wall_us };
  if (job.quarters) result.quarters = quarters(used[0]);
  for (const one of used) one.parts = [];
  return result;
}

async function hold(job) {
  const url = new URL(job.url);
  const request = requestOf(job, url);
  while (held.length < job.hold) {
    const some = await Promise.all(Array.from({ length: Math.min(AT_ONCE, job.hold - held.length) }, () => new Connection(url).open()));
    await Promise.all(some.map((one) => one.ask(request, true)));
    held.push(...some);
  }
  return { held: held.filter((one) => !one.dead).length };
}

function release() {
  const released = held.length;
  for (const one of held) one.socket.destroy();
  held = [];
  return { released };
}

for await (const text of readline.createInterface({ input: process.stdin })) {
  const job = JSON.parse(text);
  const late = setTimeout(() => { console.log(JSON.stringify({ error: `not done after ${job.seconds} s` })); process.exit(1); }, (job.seconds ?? 30) * 1000);
  try {
    const result = job.release ? release() : job.hold ? await hold(job) : await load(job);
    console.log(JSON.stringify(result));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error.message ?? error) }));
  }
  clearTimeout(late);
}
process.exit(0);
