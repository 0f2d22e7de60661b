/** What a rollout asks of the API server: writes, conflicts and CPU time, which other work on the machine does not change much. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MACHINES } from '../../src/api/generated/resources.ts';
import type { ApiServer } from '../../test/support/control-plane-server.ts';

export interface ServerLoad {
  /** Of Machines and their statuses, by agents and controllers. */
  readonly machineWrites: number;
  /** Of them, those that came too late and were refused. */
  readonly machineConflicts: number;
  /** Of everything but Leases. */
  readonly writes: number;
  readonly reads: number;
  readonly serverCpuMs: number;
}

const WRITES: ReadonlySet<string> = new Set(['APPLY', 'PATCH', 'POST', 'PUT', 'DELETE']);
const READS: ReadonlySet<string> = new Set(['GET', 'LIST']);
const MAX_BYTES = 64 * 1024 * 1024;
const run = promisify(execFile);

/** Since it was started. */
export async function readServerLoad({
  kubectl,
  kubeconfig,
}: Pick<ApiServer, 'kubectl' | 'kubeconfig'>): Promise<ServerLoad> {
  const args = ['--kubeconfig', kubeconfig, 'get', '--raw', '/metrics'];
  const { stdout } = await run(kubectl, args, { maxBuffer: MAX_BYTES });
  return serverLoadOf(stdout);
}

/** In the text format of Prometheus. */
function serverLoadOf(metrics: string): ServerLoad {
  const lines = metrics.split('\n');
  const requests = lines.filter(
    (line) => line.startsWith('apiserver_request_total{') && label(line, 'resource') !== 'leases',
  );
  const writes = requests.filter((line) => WRITES.has(label(line, 'verb')));
  const ofMachines = writes.filter((line) => label(line, 'resource') === MACHINES.plural);
  const cpu = lines.filter((line) => line.startsWith('process_cpu_seconds_total '));
  return {
    machineWrites: total(ofMachines),
    machineConflicts: total(ofMachines.filter((line) => label(line, 'code') === '409')),
    writes: total(writes),
    reads: total(requests.filter((line) => READS.has(label(line, 'verb')))),
    serverCpuMs: total(cpu) * 1000,
  };
}

function label(line: string, name: string): string {
  return new RegExp(`[{,]${name}="([^"]*)"`).exec(line)?.[1] ?? '';
}

function total(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** For each machine. */
export function loadBetween(
  before: ServerLoad,
  after: ServerLoad,
  machines: number,
): Readonly<Record<keyof ServerLoad, number>> {
  const each = (name: keyof ServerLoad): number =>
    Math.round(((after[name] - before[name]) / machines) * 100) / 100;
  return {
    machineWrites: each('machineWrites'),
    machineConflicts: each('machineConflicts'),
    writes: each('writes'),
    reads: each('reads'),
    serverCpuMs: each('serverCpuMs'),
  };
}
