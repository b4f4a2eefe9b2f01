// Preloaded into a program that would listen on all interfaces: it listens on the loopback.
const net = require('node:net');

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...words) {
  if (typeof words[0] === 'number' || /^\d+$/.test(words[0])) {
    const done = words.find((word) => typeof word === 'function');
    return listen.call(this, { port: Number(words[0]), host: '127.0.0.1' }, done);
  }
  if (words[0] && typeof words[0] === 'object' && words[0].port !== undefined) words[0] = { ...words[0], host: '127.0.0.1' };
  return listen.apply(this, words);
};
