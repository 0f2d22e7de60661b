import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { JUDGE_PROGRAM } from '../../../../src/cli/programs/judge-path.ts';
import { createLoopDelay } from '../../../../src/kube/process/loop-delay.ts';
import { createRenderCache, type RenderInputs } from '../../../../src/sync/render/cache.ts';
import {
  type RenderWorkerLimits,
  runRenderTask,
  type TaskResult,
} from '../../../../src/sync/render/worker/client.ts';
import { createFleetRepository, createTestRenderer, program } from '../../../support/fleet-repository.ts';
import { tempFolder } from '../../../support/temp.ts';
import { failureOf } from '../results.ts';

const INPUTS: RenderInputs = { tree: 'a'.repeat(40), path: '.', toolchain: 'sha256:0', facts: {} };
const PROGRAMS = join(import.meta.dirname, '../../../support/judges');

/** Rules with keys that no rule has: what the program of some 400 bytes declares that stopped a whole hub. */
function invalidRules(count: number, keys: number): Buffer {
  const spec = Object.fromEntries(Array.from({ length: keys }, (_, index) => [`x${index}`, 1]));
  const lines = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      object: {
        apiVersion: 'kubenode.dev/v1alpha1',
        kind: 'NodeRemedier',
        metadata: { name: `r${index}` },
        spec,
      },
      target: `cluster-${index % 20}`,
      unit: 'rules',
    }),
  );
  return Buffer.from([...lines, JSON.stringify({ end: count })].join('\n'));
}

async function cached(
  bytes: Buffer,
): Promise<{ cache: { folder: string; inputs: RenderInputs }; judge: true }> {
  const cache = createRenderCache(tempFolder('cache'));
  await cache.put(INPUTS, bytes);
  return { cache: { folder: cache.folder, inputs: INPUTS }, judge: true };
}

describe('the judge of a render worker', () => {
  let few: Awaited<ReturnType<typeof cached>>;
  beforeAll(async () => {
    few = await cached(invalidRules(3, 2));
  });

  it('SAF-5 refuses 90,000 rules of 40 invalid keys without their objects, while this process answers at once', async () => {
    const task = await cached(invalidRules(90_000, 40));
    const delay = createLoopDelay(5);
    const result = await runRenderTask(task, { program: JUDGE_PROGRAM });
    const { max } = delay.read();
    delay.stop();
    expect(result).toEqual({
      targets: [],
      warnings: [],
      verdict: {
        accepted: false,
        message: expect.stringMatching(
          /^kubenode.dev\/NodeRemedier r0 of cluster-0: spec\..*; and more than \d+ more$/,
        ) as string,
      },
    });
    // To read and judge them takes many seconds. A Lease is renewed every few seconds, also on a busy machine.
    expect(max).toBeLessThan(2);
  });

  it('SAF-5 refuses one rule with 145,000 invalid keys', async () => {
    const result = await runRenderTask(await cached(invalidRules(1, 145_000)), { program: JUDGE_PROGRAM });
    expect(result?.verdict).toMatchObject({ accepted: false });
    expect(JSON.stringify(result?.verdict)).toContain('NodeRemedier r0');
  });

  it.each<[name: string, limits: Partial<RenderWorkerLimits>, message: RegExp]>([
    ['throws', {}, /^checking its objects failed: Maximum call stack size exceeded$/],
    ['loops', { judgeMs: 1000 }, /^checking its objects takes more than 1 s: make the objects smaller/],
    ['loops', { cpuSeconds: 3 }, /^checking its objects takes more than 3 s of CPU time: /],
    ['fills-memory', { heapMiB: 128 }, /^checking its objects needs more than 128 MiB of memory: /],
    ['aborts', {}, /^checking its objects ends the process that does it \(SIGABRT\): /],
  ])('SAF-5 refuses a commit with which the judge %s, within %o', async (name, limits, message) => {
    const options = { program: join(PROGRAMS, `${name}.ts`), limits };
    const result: TaskResult | undefined = await runRenderTask(few, options);
    expect(result?.verdict).toEqual({ accepted: false, message: expect.stringMatching(message) as string });
  });

  it('decides nothing when something else kills the judge', async () => {
    const failure = await failureOf(runRenderTask(few, { program: join(PROGRAMS, 'is-killed.ts') }));
    expect(failure).toMatchObject({
      name: 'Error',
      message: expect.stringContaining('ended early (SIGKILL)') as string,
    });
  });

  it('judges what it renders and what it finds in the cache, and sends the objects that are accepted', async () => {
    const repository = createFleetRepository();
    const { transport } = repository;
    repository.commit('good', { 'main.ts': program() });
    const good = await transport.fetch('main');
    repository.commit('bad', { 'main.ts': program('', '{ a: "b" }, status: {}') });
    const bad = await transport.fetch('main');
    const renderer = createTestRenderer({ cache: createRenderCache(tempFolder('cache')) });
    for (let round = 0; round < 2; round += 1) {
      const accepted = await renderer.judge({ git: transport, commit: good });
      expect(accepted).toMatchObject({ verdict: { accepted: true } });
      expect(accepted.rendered).toEqual((await renderer.commit({ git: transport, commit: good })).rendered);
      const refused = await renderer.judge({ git: transport, commit: bad });
      expect(refused).toMatchObject({
        rendered: { commit: bad, targets: [] },
        verdict: {
          accepted: false,
          message: expect.stringMatching(
            /^ConfigMap default\/settings of test: status: set by the server/,
          ) as string,
        },
      });
    }
    await transport.close();
  });
});
