/**
 * Serves the tasks of a render worker: it runs the sandboxed processes, parses what they wrote, and judges it. The sandboxed
 * processes run code of a commit, this process does not; but what it parses and judges may be of any size, so it has limits of
 * its own.
 */

import { printableText } from '../../../kube/objects/printable.ts';
import { messageOf, systemCode } from '../../../os/errors.ts';
import { removeOwnedFolder } from '../../../os/worker/owned-folder.ts';
import { sendToParent, serveParent } from '../../../os/worker/worker-process.ts';
import type { ContentVerdict } from '../../content-verdict.ts';
import { createRenderCache } from '../cache.ts';
import { nondeterminismError } from '../difference.ts';
import { isRenderError } from '../errors.ts';
import { type RenderResult, readResult } from '../result.ts';
import { isolationOf } from '../sandbox/os-isolation.ts';
import { runSandbox } from '../sandbox/sandbox.ts';
import type { RenderMessage, RenderTask } from './protocol.ts';

/** Judges the objects of a commit. An error means that the commit breaks the judge. */
export type JudgeResult = (result: RenderResult) => Promise<ContentVerdict>;

const MAX_BATCH_BYTES = 64 * 1024;
const MAX_ERROR = 300;

const stopping = new AbortController();
/** The folders of the exported commits. */
let folders: readonly string[] = [];
let judge: JudgeResult | undefined;

/** Serves the tasks of the parent process. Without a judge it serves those that ask for none. */
export function serveRenders(judgeResult?: JudgeResult): void {
  judge = judgeResult;
  serveParent((message) => void serve(message as RenderTask), stop);
}

/** Stops the task and removes its folders, because the parent has ended or does not need the result any more. */
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

async function readCached(task: RenderTask): Promise<void> {
  const { cache } = task;
  const bytes = cache && (await createRenderCache(cache.folder).get(cache.inputs));
  await (bytes ? sendJudged(task, readResult(bytes)) : send({ missing: true }));
}

async function run(whole: RenderTask, task: NonNullable<RenderTask['run']>): Promise<void> {
  const { cache } = whole;
  const bytes = await runAll(task);
  const result = readResult(bytes);
  // Failures are not cached: they may depend on the limits and the isolation of this machine.
  if (cache) await createRenderCache(cache.folder).put(cache.inputs, bytes);
  await sendJudged(whole, result);
}

/** Runs the jobs concurrently, to save time. When one fails, the other one is not needed. */
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

/** Judges the result and sends it. The objects of a refused commit stay here: they are not needed, and there may be very many. */
async function sendJudged(task: RenderTask, result: RenderResult): Promise<void> {
  if (!task.judge) return sendResult(result);
  await send({ judging: true });
  const verdict = await verdictFor(result);
  if (verdict.accepted) return sendResult(result, verdict);
  await send({ done: { warnings: result.warnings, verdict } });
}

async function verdictFor(result: RenderResult): Promise<ContentVerdict> {
  if (!judge) throw new Error('this render worker has no judge');
  try {
    return await judge(result);
  } catch (error) {
    // The judge reads and writes nothing: its errors come from the commit, and come again with it.
    const text = messageOf(error);
    const message = `checking its objects failed: ${printableText(text.slice(0, MAX_ERROR))}`;
    return { accepted: false, message };
  }
}

async function sendResult({ targets, warnings }: RenderResult, verdict?: ContentVerdict): Promise<void> {
  for (const { units, ...target } of targets) {
    for (const { objects, ...unit } of units) {
      for (const batch of batchesOf(objects)) await send({ objects: batch });
      await send({ unit });
    }
    await send({ target });
  }
  await send({ done: { warnings, ...(verdict ? { verdict } : {}) } });
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
  const message = messageOf(error);
  return { broken: { message, code: systemCode(error) } };
}

async function send(message: RenderMessage): Promise<void> {
  await sendToParent(message);
}
