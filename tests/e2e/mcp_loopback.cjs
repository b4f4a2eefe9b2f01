// Preloaded into servers that would listen on every interface: they listen here only, and say where.
const net = require('net')

const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (port, ...rest) {
  const then = rest.find((one) => typeof one === 'function')
  this.once('listening', () => process.stderr.write(`LISTENING ${this.address().port}\n`))
  return listen.call(this, { port: Number(port.port ?? port), host: '127.0.0.1' }, then)
}
