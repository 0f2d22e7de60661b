import { chmodSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJournalLog } from '../../../src/agent/detector/sources/journal-log.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { followLog } from '../../support/agent/followed-log.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type NodeKit, nodeKit, type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';

const USUAL = { identifier: 'kernel-test', clock: createSystemClock(), log: memoryLog() };

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

describe.skipIf(reason)(`the journal of a real node${reason ? ` (${reason})` : ''}`, () => {
  let kit: NodeKit;
  let node: TestNode;

  beforeAll(async () => {
    kit = await nodeKit();
    node = await kit.boot({ name: 'journal' });
  });
  afterAll(() => kit?.close());

  it('is followed by line, and continued after the last line that was read', async () => {
    const source = createJournalLog({ ...USUAL, program: await programInside('journalctl') });
    await log('task a:1 blocked for more than 120 seconds.');
    const first = followLog(source);
    expect(await first.lines(1)).toEqual(['task a:1 blocked for more than 120 seconds.']);
    await log('second');
    expect(await first.lines(2)).toHaveLength(2);
    await first.stop();
    await log('third');
    const position = first.position() ?? '';
    expect(await followLog(source, { position }).lines(1)).toEqual(['third']);
  });

  it('is read again and again where inotify is used up', async () => {
    // In a user namespace of its own: the limits of this machine stay as they are.
    const limit = 'echo 0 > /proc/sys/user/max_inotify_instances && exec journalctl "$@"';
    const program = await programInside('unshare', '--user', '--map-root-user', 'sh', '-c', limit, 'sh');
    await log('before', 'polled-test');
    const warnings = memoryLog();
    const clock = {
      ...USUAL.clock,
      sleep: (_: number, signal?: AbortSignal) => USUAL.clock.sleep(100, signal),
    };
    const followed = followLog(
      createJournalLog({ ...USUAL, identifier: 'polled-test', program, clock, log: warnings }),
    );
    expect(await followed.lines(1)).toEqual(['before']);
    await log('after', 'polled-test');
    expect(await followed.lines(2)).toEqual(['before', 'after']);
    await followed.stop();
    expect(await followed.ended).toBeUndefined();
    expect(warnings.lines.map(({ message }) => message)).toEqual(['journal polled']);
  });

  async function log(message: string, tag = USUAL.identifier): Promise<void> {
    await node.run('logger', '--tag', tag, message);
  }

  /** A program on this machine that runs one of the node. */
  async function programInside(...argv: readonly string[]): Promise<string> {
    const command = await node.command(argv);
    const program = `${tempFolder('inside')}/journalctl`;
    const words = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
    writeFileSync(program, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`);
    chmodSync(program, 0o755);
    return program;
  }
});
