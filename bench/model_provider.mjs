// A model provider that costs as little as it can: chat completions whose bytes are made before the first request.
//   node model_provider.mjs
// The model name selects the answer: `bench` 200 deltas, `short` one, `long` 1 MiB of text in deltas of 32 bytes, `still` one delta and then silence.
// Each delta is a separate chunk; one write has ten of them, and other connections have their turn between writes.
import net from 'node:net';

const WORDS = ['the ', 'model ', 'answers ', 'with ', 'a ', 'project ', 'plan, ', 'and ', 'user42 ', 'asks ', 'for ', '2026-11 ', 'numbers ', 'in ', 'order: ', '3, ',
  'previous ', 'lines ', 'ignore ', 'empty ', 'fields. ', 'Sky ', 'AK ', 'write '];
const LONG = 1 << 20;
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n';
const LONGEST_REQUEST = 8 << 20;

const framed = (data) => { const frame = `data: ${data}\n\n`; return `${frame.length.toString(16)}\r\n${frame}\r\n`; };
const event = (delta, finish_reason = null) =>
  framed(JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench', choices: [{ index: 0, delta, finish_reason }] }));

// The writes of one answer.
function answer(texts, whole = true) {
  const chunks = [event({ role: 'assistant', content: '' }), ...texts.map((content) => event({ content }))];
  if (whole) chunks.push(event({}, 'stop'), framed('[DONE]'), '0\r\n\r\n');
  const writes = [];
  for (let i = 0; i < chunks.length; i += 10) writes.push(Buffer.from((i ? '' : HEAD) + chunks.slice(i, i + 10).join('')));
  return writes;
}

const word = (i) => WORDS[(i * 7) % WORDS.length];
const line = (i) => [0, 1, 2, 3, 4, 5, 6, 7].map((k) => word(i + k)).join('').padEnd(32).slice(0, 32);
const ANSWERS = {
  bench: answer(Array.from({ length: 200 }, (_, i) => word(i))),
  short: answer(['done']),
  long: answer(Array.from({ length: LONG / 32 }, (_, i) => line(i))),
  still: answer(['wait '], false),
};

async function send(socket, writes) {
  for (const part of writes) {
    if (socket.destroyed) return;
    if (!socket.write(part)) await new Promise((go) => { socket.once('drain', go); socket.once('close', go); });
    else if (writes.length > 1) await new Promise(setImmediate);
  }
}

net.createServer({ noDelay: true }, (socket) => {
  let parts = [];
  let size = 0;
  let needed = 0;  // bytes of this request, once its head is known
  socket.on('error', () => socket.destroy());
  socket.on('data', (part) => {
    parts.push(part);
    size += part.length;
    if (size > LONGEST_REQUEST) return socket.destroy();
    if (!needed) {
      const whole = parts.length > 1 ? Buffer.concat(parts) : part;
      parts = [whole];
      const end = whole.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = /\r\ncontent-length: *(\d+)/i.exec(whole.toString('latin1', 0, end));
      if (!length) return socket.end('HTTP/1.1 411 Length Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      needed = end + 4 + Number(length[1]);
    }
    if (size < needed) return;
    const model = /"model": *"(\w+)"/.exec(Buffer.concat(parts).toString('latin1', 0, 8192));
    parts = []; size = 0; needed = 0;
    const writes = model && ANSWERS[model[1]];
    if (!writes) return socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    send(socket, writes);
  });
}).listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, function () { console.log(`http://127.0.0.1:${this.address().port}/v1`); });
