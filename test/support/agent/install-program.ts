/** A program that installs one artifact as the agent does, and prints the most memory that it took. Arguments: directory, artifact. */
import { readFileSync } from 'node:fs';
import { createSandboxHost } from '../../../src/agent/host/sandbox/host.ts';
import { downloadArtifact, unpackArtifact, verifyArtifact } from '../../../src/agent/install/artifact.ts';
import type { Target } from '../../../src/agent/target/target.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';

const [directory = '', json = ''] = process.argv.slice(2);
const target = JSON.parse(json) as Target;
const { artifact } = target;
if (!artifact) throw new Error('expected an artifact');
const host = createSandboxHost({ directory, clock: createSystemClock() });
await downloadArtifact(host.files, host.network, artifact);
await verifyArtifact(host.files, artifact);
await unpackArtifact(host, target);
// Not maxRSS of getrusage, which begins with the memory of the process that started this one.
const status = readFileSync('/proc/self/status', 'utf8');
const kibibytes = /^VmHWM:\s+(?<kibibytes>\d+) kB$/m.exec(status)?.groups?.['kibibytes'];
process.stdout.write(String(Number(kibibytes) * 1024));
