/** Records which GPUs were reset: an error before that proves nothing any more. */
import { parseRecord } from '../../kube/objects/json.ts';
import type { HostFiles } from '../host/port.ts';
import { GPU_RESETS_FILE } from '../layout.ts';

/** The times of the last reset by address. Each is that of its begin: an error that a reset causes counts. */
export type GpuResets = ReadonlyMap<string, Date>;

const ATTRIBUTES = { mode: '0600', owner: 'root:root' };
/** Bounds the record: a host has fewer GPUs. */
const MAX_GPUS = 256;

/** Reads the record. Without one that can be read no GPU counts as reset, so that every error still counts. */
export async function readGpuResets(files: Pick<HostFiles, 'read'>): Promise<GpuResets> {
  const content = await files.read(GPU_RESETS_FILE);
  const written = content ? parseRecord(new TextDecoder().decode(content)) : undefined;
  return new Map(
    Object.entries(written ?? {}).flatMap(([address, at]) => {
      const time = new Date(typeof at === 'string' ? at : Number.NaN);
      return Number.isNaN(time.getTime()) ? [] : [[address, time] as const];
    }),
  );
}

export async function recordGpuResets(
  files: Pick<HostFiles, 'read' | 'write'>,
  addresses: readonly string[],
  at: Date,
): Promise<void> {
  const before = await readGpuResets(files);
  const all = new Map([...before, ...addresses.map((each) => [each, at] as const)]);
  const newest = [...all].toSorted(([, a], [, b]) => b.getTime() - a.getTime()).slice(0, MAX_GPUS);
  const record = Object.fromEntries(newest.map(([address, time]) => [address, time.toISOString()]));
  await files.write(GPU_RESETS_FILE, new TextEncoder().encode(JSON.stringify(record)), ATTRIBUTES);
}

/** Tells whether the GPU was reset after the error. After the clock was set back, the times prove no order. */
export function isBeforeReset(
  { address, at }: { readonly address: string; readonly at: Date },
  resets: GpuResets,
  now: Date,
): boolean {
  const reset = resets.get(address);
  return reset !== undefined && at < reset && reset <= now;
}
