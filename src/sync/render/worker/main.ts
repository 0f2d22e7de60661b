/**
 * The program of the render worker: runs the sandboxed processes, and parses what they wrote. Started by client.ts, never
 * imported. The sandboxed processes run code of a commit, this process does not.
 */
import { systemCode } from '../../../os/errors.ts';
import { removeOwnedFolder } from '../../../os/worker/owned-folder.ts';
import { sendToParent, serveParent } from '../../../os/worker/worker-process.ts';
import { createRenderCache } from '../cache.ts';
import { nondeterminismError } from '../difference.ts';
import { isRenderError } from '../errors.ts';
import { isolationOf } from '../os-isolation.ts';
import { type RenderResult, readResult } from '../result.ts';
import { runSandbox } from '../sandbox.ts';
import type { RenderMessage, RenderTask } from './protocol.ts';

const MAX_BATCH_BYTES = 64 * 1024;

const stopping = new AbortController();
/** Of exported commits. */
let folders: readonly string[] = [];

serveParent((message) => void serve(message as RenderTask), stop);

/** The parent has ended, or needs the result no more. */
async function stop(): Promise<void> {
  stopping.abort();
  for (const folder of folders) await removeOwnedFolder(folder);
}

async function serve(task: RenderTask): Promise<void> {
  folders = task.run?.jobs.map(({ root }) => root) ?? [];
  try {
    await (task.run ? run(task, task.run) : readCached(task));
  } catch (error) {
    await send(failureOf(error));
  }
}

async function readCached({ cache }: RenderTask): Promise<void> {
  const bytes = cache && (await createRenderCache(cache.folder).get(cache.inputs));
  await (bytes ? sendResult(readResult(bytes)) : send({ missing: true }));
}

async function run({ cache }: RenderTask, task: NonNullable<RenderTask['run']>): Promise<void> {
  const bytes = await runAll(task);
  const result = readResult(bytes);
  // Failures are not cached: they may depend on the limits and the isolation of this machine.
  if (cache) await createRenderCache(cache.folder).put(cache.inputs, bytes);
  await sendResult(result);
}

/** Concurrently, to save time. When one fails, the other one is not needed. */
async function runAll({ sandbox, isolation, jobs }: NonNullable<RenderTask['run']>): Promise<Buffer> {
  const failed = new AbortController();
  const signal = AbortSignal.any([stopping.signal, failed.signal]);
  const found = { ...sandbox, isolation: isolationOf(isolation) };
  const [first, ...others] = await Promise.all(
    jobs.map(async (job) => {
      try {
        return await runSandbox(found, job, signal);
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    }),
  );
  if (!first) throw new Error('a render without a job');
  const different = others.find((bytes) => !bytes.equals(first));
  if (different) throw nondeterminismError(first, different);
  return first;
}

async function sendResult({ targets, warnings }: RenderResult): Promise<void> {
  for (const { units, ...target } of targets) {
    for (const { objects, ...unit } of units) {
      for (const batch of batchesOf(objects)) await send({ objects: batch });
      await send({ unit });
    }
    await send({ target });
  }
  await send({ done: { warnings } });
}

function* batchesOf<T>(objects: readonly T[]): Generator<readonly T[]> {
  let batch: T[] = [];
  let bytes = 0;
  for (const object of objects) {
    batch.push(object);
    bytes += JSON.stringify(object).length;
    if (bytes < MAX_BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  yield batch;
}

function failureOf(error: unknown): RenderMessage {
  if (isRenderError(error)) {
    const { code, problems, hint } = error;
    return { failed: { code, problems, hint } };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { broken: { message, code: systemCode(error) } };
}

async function send(message: RenderMessage): Promise<void> {
  await sendToParent(message);
}
