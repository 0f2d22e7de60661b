/** Runs in a node, in the unit of the agent: one program with the rights of the agent, and with those of a plug-in. */
import { writeFileSync } from 'node:fs';
import { createSystemdHost } from '../../../../src/agent/host/systemd/host.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';

const [script = '', file = ''] = process.argv.slice(2);
const { processes } = createSystemdHost({ clock: createSystemClock() });
const limits = { timeoutMs: 60_000, maxOutputBytes: 4096, onlyStdout: true };
const argv = ['/bin/sh', script];
const agent = await processes.run(argv, limits);
const plugin = await processes.run(argv, { ...limits, rights: {} });
writeFileSync(file, JSON.stringify({ agent, plugin }));
