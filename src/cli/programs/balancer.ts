/** The entry point of a balancer or gateway: a program of its own, because it runs for months and needs little of the command line. */
import { parseArgs } from 'node:util';
import { runBalancer } from '../../controllers/hosting/balancer/run.ts';
import { createSystemClock } from '../../os/system-clock.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    port: text,
    'all-addresses': { type: 'boolean' },
    'health-port': text,
    backends: text,
    'ca-file': text,
  },
});
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort());

await runBalancer({
  port: Number(values.port),
  isOutside: values['all-addresses'] ?? false,
  healthPort: Number(values['health-port']),
  backends: (values.backends ?? '').split(',').map(Number),
  caFile: values['ca-file'] ?? '',
  clock: createSystemClock(),
  signal: stopped.signal,
});
// Connections that are open must not keep it.
process.exit();
