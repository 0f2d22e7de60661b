import { describe, expect, it } from 'vitest';
import type { PlannedPullRequest } from '../../../src/api/generated/types.ts';
import type { HeadPlan } from '../../../src/sync/pulls/head-plan.ts';
import type { CommentText, HostComment } from '../../../src/sync/pulls/hosts/adapter.ts';
import { createPlanWriter, type PlanJob } from '../../../src/sync/pulls/writer.ts';
import { HostCallError } from '../../../src/sync/report/outcome.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { reportingPipeline } from '../report/builders.ts';

const PULL = { number: 7, head: 'h1', isFork: false };
const BEFORE = { number: 7, head: 'h0', base: 'b1', comment: '1' } as PlannedPullRequest;
const PLAN: HeadPlan = { outcome: 'Refused', message: 'it throws' };
const NEVER = new AbortController().signal;

/** A host in memory that fails one of its calls, before or after it has carried it out. */
class MemoryHost {
  readonly comments: HostComment[] = [];
  readonly statuses: string[] = [];
  calls = 0;
  fails: { readonly call: number; readonly acts: boolean } | undefined;

  findComment = (_: number, marker: string): Promise<string | undefined> =>
    this.act(() => this.comments.find(({ body }) => body.startsWith(marker))?.id);

  writeComment = ({ comment, body }: CommentText): Promise<string> =>
    this.act(() => {
      const id = comment ?? String(this.comments.length + 10);
      const at = this.comments.findIndex((each) => each.id === id);
      if (comment !== undefined && at < 0) throw hostError('NotFound');
      if (at < 0) this.comments.push({ id, body });
      else this.comments[at] = { id, body };
      return id;
    });

  setStatus = ({ commit, state }: { readonly commit: string; readonly state: string }): Promise<void> =>
    this.act(() => void this.statuses.push(`${commit} ${state}`));

  private async act<T>(work: () => T): Promise<T> {
    this.calls += 1;
    const fails = this.fails?.call === this.calls ? this.fails : undefined;
    if (fails?.acts === false) throw hostError('Unreachable');
    const done = work();
    if (fails) throw hostError('Unreachable');
    return done;
  }
}

function hostError(reason: 'NotFound' | 'Unreachable'): HostCallError {
  return new HostCallError({ reason, message: `the host answers ${reason}`, isTemporary: true });
}

function createBed(before?: PlannedPullRequest) {
  const host = new MemoryHost();
  let planned = 0;
  const target = { project: { type: 'GitHub' }, address: 'a' };
  const job = { pipeline: reportingPipeline(), target, host, pull: PULL, base: 'b1', before } as unknown;
  const start = () =>
    createPlanWriter({
      planPull: async () => ((planned += 1), PLAN),
      clock: virtualClock(),
      log: memoryLog(),
    });
  return { host, job: job as PlanJob, start, planned: () => planned };
}

describe('S22 writes a plan to the git host', () => {
  it.each<[name: string, before: PlannedPullRequest | undefined]>([
    ['that has no plan of it', undefined],
    ['whose comment a person deleted', BEFORE],
  ])('once, for a pull request %s, whichever call fails, and whether sync was killed', async (_, before) => {
    for (const [acts, restarts] of [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const) {
      for (let call = 1; call <= 4; call += 1) {
        const { host, job, start } = createBed(before);
        host.fails = { call, acts };
        const writer = start();
        const first = await writer.write(job, NEVER).catch(() => undefined);
        const planned = first ?? (await (restarts ? start() : writer).write(job, NEVER));
        expect(host.comments).toHaveLength(1);
        expect(planned).toMatchObject({ number: 7, head: 'h1', base: 'b1', comment: host.comments[0]?.id });
        expect(host.statuses.at(-1)).toBe('h1 Failed');
      }
    }
  });

  it('replaces the comment that is recorded, without a search', async () => {
    const { host, job, start } = createBed({ ...BEFORE, comment: '1' });
    host.comments.push({ id: '1', body: 'old' });
    await start().write(job, NEVER);
    expect([host.comments.length, host.calls]).toEqual([1, 2]);
    expect(host.comments[0]?.body).toContain('it throws');
  });

  it('makes the plan once while the host fails', async () => {
    const { host, job, start, planned } = createBed();
    host.fails = { call: 1, acts: false };
    const writer = start();
    await expect(writer.write(job, NEVER)).rejects.toThrow('the host answers Unreachable');
    expect(writer.unwritten([PULL])).toEqual(PULL);
    await writer.write(job, NEVER);
    expect([planned(), writer.unwritten([PULL])]).toEqual([1, undefined]);
  });

  it('writes the comment once while the host refuses the status', async () => {
    const { host, job, start } = createBed();
    host.fails = { call: 3, acts: false };
    const writer = start();
    await expect(writer.write(job, NEVER)).rejects.toThrow('the host answers Unreachable');
    await writer.write(job, NEVER);
    expect([host.calls, host.statuses]).toEqual([4, ['h1 Failed']]);
  });

  it.each<[name: string, more: Partial<PlannedPullRequest>, expected: readonly string[]]>([
    ['is the same', {}, []],
    ['is of another head', { head: 'h0' }, ['h1 Failed']],
    ['has another state', { state: 'Succeeded' }, ['h1 Failed']],
    ['has another text', { message: 'REFUSED: it fails' }, ['h1 Failed']],
  ])('sends no status again that the host has: the recorded one %s', async (_, more, expected) => {
    const first = createBed();
    const written = await first.start().write(first.job, NEVER);
    const { host, job, start } = createBed({ ...written, ...more });
    host.comments.push({ id: written.comment, body: 'old' });
    await start().write(job, NEVER);
    expect(host.statuses).toEqual(expected);
    expect(host.comments[0]?.body).toContain('it throws');
  });

  it('does not take an error for a comment that was deleted', async () => {
    const { host, job, start } = createBed(BEFORE);
    host.fails = { call: 1, acts: false };
    await expect(start().write(job, NEVER)).rejects.toThrow('the host answers Unreachable');
    expect([host.comments, host.calls]).toEqual([[], 1]);
  });
});
