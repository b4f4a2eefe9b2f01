// The fixture on standard streams.   node stdio.mjs [both|legacy|modern]
import { makeServer } from './fixture.mjs';
import { StdioServerTransport, serveStdio } from './sdk.mjs';

const era = process.argv[2] ?? 'both';
if (era === 'legacy') await makeServer().connect(new StdioServerTransport());
else serveStdio(() => makeServer(), { legacy: era === 'modern' ? 'reject' : 'serve' });
