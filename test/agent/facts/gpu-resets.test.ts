import { beforeEach, describe, expect, it } from 'vitest';
import { isBeforeReset, readGpuResets, recordGpuResets } from '../../../src/agent/facts/gpu-resets.ts';
import { createMemoryHost, type MemoryHost } from '../../../src/agent/host/memory/host.ts';
import { GPU_RESETS_FILE } from '../../../src/agent/layout.ts';
import { NOW, virtualClock } from '../../support/virtual-clock.ts';

const [A, B] = ['0000:3b:00', '0000:cb:00'];
let host: MemoryHost;

beforeEach(() => {
  host = createMemoryHost({ clock: virtualClock(), artifacts: new Map() });
});

function seconds(after: number): Date {
  return new Date(NOW.getTime() + after * 1000);
}

describe('the record of resets', () => {
  it('is empty on a host whose GPUs were never reset', async () => {
    expect(await readGpuResets(host.files)).toEqual(new Map());
  });

  it('keeps the last reset of each GPU', async () => {
    await recordGpuResets(host.files, [A, B], NOW);
    await recordGpuResets(host.files, [A], seconds(60));
    expect(await readGpuResets(host.files)).toEqual(
      new Map([
        [A, seconds(60)],
        [B, NOW],
      ]),
    );
  });

  it('is no larger than a host has GPUs, whatever the driver names', async () => {
    const many = Array.from({ length: 300 }, (_, index) => `0000:${index.toString(16)}:00`);
    await recordGpuResets(host.files, many, NOW);
    await recordGpuResets(host.files, [A], seconds(1));
    const kept = await readGpuResets(host.files);
    expect([kept.size, kept.has(A)]).toEqual([256, true]);
  });

  it.each(['', 'no JSON', '[]', '{"0000:3b:00": 5}', '{"0000:3b:00": "soon"}'])(
    'R1 ends no error when the file is damaged: %s',
    async (text) => {
      const attributes = { mode: '0600', owner: 'root:root' };
      await host.files.write(GPU_RESETS_FILE, new TextEncoder().encode(text), attributes);
      expect(await readGpuResets(host.files)).toEqual(new Map());
    },
  );
});

it.each<[name: string, error: { address: string; at: Date }, now: Date, expected: boolean]>([
  ['an error before the reset is ended', { address: A, at: seconds(-1) }, seconds(9), true],
  ['an error at the begin of the reset is not', { address: A, at: NOW }, seconds(9), false],
  ['an error after the reset is not', { address: A, at: seconds(1) }, seconds(9), false],
  ['an error of another GPU is not', { address: B, at: seconds(-1) }, seconds(9), false],
  ['no error is, when the clock was set back', { address: A, at: seconds(-1) }, seconds(-5), false],
])('R1 tells what the last reset has ended: %s', (_, error, now, expected) => {
  expect(isBeforeReset(error, new Map([[A, NOW]]), now)).toBe(expected);
});
