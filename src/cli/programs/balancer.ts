/** The entry point of a balancer: a program of its own, because it runs for months and needs little of the command line. */
import { parseArgs } from 'node:util';
import { runBalancer } from '../../controllers/hosting/balancer/run.ts';
import { createSystemClock } from '../../os/system-clock.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: { port: text, 'health-port': text, backends: text, 'ca-file': text },
});
const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort());

await runBalancer({
  port: Number(values.port),
  healthPort: Number(values['health-port']),
  backends: (values.backends ?? '').split(',').map(Number),
  caFile: values['ca-file'] ?? '',
  clock: createSystemClock(),
  signal: stopped.signal,
});
// Connections that are open must not keep it.
process.exit();
