import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRecording } from '../../../../../src/cli/commands/rules/record/recording-file.ts';
import type { RecordedLine } from '../../../../../src/rules/recording/format.ts';
import { CLUSTER } from '../../../../rules/recording/recording-bed.ts';
import { tempFolder } from '../../../../support/temp.ts';
import { NOW } from '../../../../support/virtual-clock.ts';

const STARTED: RecordedLine = {
  type: 'Started',
  at: NOW.toISOString(),
  format: 'kubenode-facts',
  version: 1,
  kubenode: '0',
  cluster: CLUSTER,
};
const TICK: RecordedLine = { type: 'Tick', at: NOW.toISOString() };

function pathOf(content?: string): string {
  const path = join(tempFolder('recording'), 'facts.jsonl');
  if (content !== undefined) writeFileSync(path, content);
  return path;
}

function append(path: string): ReturnType<typeof openRecording> {
  return openRecording({ path, append: true, clusterUID: CLUSTER.uid, now: NOW });
}

describe('openRecording', () => {
  it('writes each line at once, into a file that only its owner reads', () => {
    const path = pathOf();
    const file = openRecording({ path, append: false, clusterUID: CLUSTER.uid, now: NOW });
    file.write(STARTED);
    expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify(STARTED)}\n`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(file.lines).toBe(1);
    file.close();
  });

  it('does not overwrite a file', () => {
    const path = pathOf('mine');
    expect(() => openRecording({ path, append: false, clusterUID: CLUSTER.uid, now: NOW })).toThrow(
      'the file exists already',
    );
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  it.each<[name: string, rest: string]>([
    ['its last line', ''],
    ['half a line of a process that was killed, which it removes', '{"type":"Tick","a'],
  ])('continues a file after %s', (_, rest) => {
    const path = pathOf(`${JSON.stringify(STARTED)}\n${rest}`);
    const file = append(path);
    file.write(TICK);
    file.close();
    expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify(STARTED)}\n${JSON.stringify(TICK)}\n`);
  });

  it('continues a file that does not exist, and an empty one', () => {
    for (const path of [pathOf(), pathOf('')]) {
      const file = append(path);
      file.write(STARTED);
      file.close();
      expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify(STARTED)}\n`);
    }
  });

  const later = new Date(+NOW + 1000).toISOString();

  it.each<[name: string, content: string, error: string]>([
    ['another file', 'hello\n', 'expected JSON'],
    ['another JSON file', `${JSON.stringify(TICK)}\n`, 'the file is not a recording'],
    [
      'another version of the format',
      `${JSON.stringify({ ...STARTED, version: 9 })}\n`,
      'expected version 1 of the format, got 9',
    ],
    [
      'a recording of another cluster',
      `${JSON.stringify({ ...STARTED, cluster: { uid: 'other', server: 's' } })}\n`,
      'it is a recording of another cluster',
    ],
    [
      'a recording of the future',
      `${JSON.stringify({ ...STARTED, at: later })}\n`,
      `its last line is of ${later}, which is after now`,
    ],
    [
      'a damaged end',
      `${JSON.stringify(STARTED)}\n{}\n`,
      'its last line cannot be read: expected a time in field at',
    ],
  ])('does not continue %s, and leaves it as it is', (_, content, error) => {
    const path = pathOf(content);
    expect(() => append(path)).toThrow(`the recording cannot be continued: ${error}`);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });
});
