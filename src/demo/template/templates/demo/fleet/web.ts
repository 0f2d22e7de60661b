/** A small web server that each machine runs: one file, and its configuration. */
import type { MachineComponentSpec } from 'kubenode/constructs';
import local from './local.json' with { type: 'json' };

interface WebRelease {
  readonly version: string;
  readonly greeting: string;
}

/** Version 2.0.0 does not become healthy: roll it out to see a rollout stop and go back. */
const releases: readonly WebRelease[] = [
  { version: '1.0.0', greeting: 'hello' },
  { version: '1.1.0', greeting: 'hello again' },
  { version: '2.0.0', greeting: '' },
];

const SERVER = `import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const [, , config, port] = process.argv;
const text = readFileSync(config, 'utf8').trim();
createServer((_, response) => {
  response.statusCode = text === '' ? 500 : 200;
  response.end(text);
}).listen(Number(port), '127.0.0.1');
`;

export const web: readonly MachineComponentSpec[] = releases.map(({ version, greeting }) => ({
  component: 'web',
  version,
  description: 'A web server that answers with a greeting',
  ports: [{ name: 'http', port: 8080 }],
  files: [
    { path: '/opt/web/server.mjs', content: SERVER, units: ['web'] },
    { path: '/etc/web/greeting', content: `${greeting}\n`, units: ['web'] },
  ],
  units: [
    {
      name: 'web',
      exec: { argv: [local.node, '/opt/web/server.mjs', '/etc/web/greeting', '${port.http}'] },
    },
  ],
  // Shortened for a demonstration, as the period of the probe.
  commitAfterSeconds: 3,
  probes: [{ name: 'greets', http: { port: 'http', path: '/' }, periodSeconds: 2 }],
}));
