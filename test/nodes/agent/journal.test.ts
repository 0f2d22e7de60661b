import { chmodSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createJournalLog } from '../../../src/agent/detector/sources/journal-log.ts';
import { followLog } from '../../support/agent/followed-log.ts';
import { type NodeKit, nodeKit, type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';

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
    const source = createJournalLog({ identifier: 'kernel-test', program: await journalctlInside() });
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

  async function log(message: string): Promise<void> {
    await node.run('logger', '--tag', 'kernel-test', message);
  }

  /** A program on this machine that runs the journalctl of the node. */
  async function journalctlInside(): Promise<string> {
    const command = await node.command(['journalctl']);
    const program = `${tempFolder('inside')}/journalctl`;
    const words = command.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`);
    writeFileSync(program, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`);
    chmodSync(program, 0o755);
    return program;
  }
});
