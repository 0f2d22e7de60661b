import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readRecordedLines } from '../../../src/rules/recording/read-lines.ts';
import { tempFolder } from '../../support/temp.ts';
import { CLUSTER } from './recording-bed.ts';

function at(second: number): string {
  return new Date(Date.UTC(2030, 0, 1, 12, 0, second)).toISOString();
}

function started(second: number, cluster: object = CLUSTER, version = 1): string {
  return JSON.stringify({
    type: 'Started',
    at: at(second),
    format: 'kubenode-facts',
    version,
    kubenode: '0',
    cluster,
  });
}

function tick(second: number): string {
  return JSON.stringify({ type: 'Tick', at: at(second) });
}

interface ReadFiles {
  /** `a:2 Tick` */
  readonly lines: readonly string[];
  readonly warnings: readonly string[];
  readonly error: string | undefined;
}

async function readAll(...contents: readonly (string | Buffer)[]): Promise<ReadFiles> {
  const folder = tempFolder('recording');
  const files = contents.map((content, index) => {
    const file = join(folder, `${'abc'[index] ?? ''}${typeof content === 'string' ? '' : '.gz'}`);
    writeFileSync(file, content);
    return file;
  });
  const [lines, warnings]: [string[], string[]] = [[], []];
  const short = (text: string): string => text.replaceAll(`${folder}/`, '');
  try {
    for await (const { where, line } of readRecordedLines(files, {
      warn: (text) => warnings.push(short(text)),
    })) {
      lines.push(`${short(where)} ${line.type}`);
    }
  } catch (error) {
    const { where, message } = error as { readonly where?: string; readonly message: string };
    return {
      lines,
      warnings,
      error: `${short(where ?? '')}: ${short(message).replace('the recording cannot be read: ', '')}`,
    };
  }
  return { lines, warnings, error: undefined };
}

describe('readRecordedLines', () => {
  it('reads several files and several processes in one file, with the place of each line', async () => {
    const found = await readAll(`${started(0)}\n${tick(1)}\n${started(9)}\n`, `${started(10)}\n`);
    expect(found).toEqual({
      lines: ['a:1 Started', 'a:2 Tick', 'a:3 Started', 'b:1 Started'],
      warnings: [],
      error: undefined,
    });
  });

  it('reads what was packed with gzip', async () => {
    expect((await readAll(gzipSync(`${started(0)}\n${tick(1)}\n`))).lines).toEqual([
      'a.gz:1 Started',
      'a.gz:2 Tick',
    ]);
  });

  it('ignores a last line that is not complete, with a warning', async () => {
    expect(await readAll(`${started(0)}\n${tick(1).slice(0, 20)}`)).toEqual({
      lines: ['a:1 Started'],
      warnings: ['a:2: the last line is not complete: it is ignored'],
      error: undefined,
    });
  });

  it('reads a last line that only lacks its line break', async () => {
    expect(await readAll(`${started(0)}\n${tick(1)}`)).toMatchObject({ warnings: [], error: undefined });
  });

  it.each<[name: string, contents: readonly (string | Buffer)[], error: string]>([
    ['an empty file', [''], 'a: the file is empty'],
    ['another file', ['hello\n'], 'a:1: expected JSON'],
    ['a file without a line break', ['hello'], 'a:1: expected JSON'],
    ['a file without its first line', [`${tick(0)}\n`], 'a:1: expected a line of type Started'],
    ['another version', [`${started(0, CLUSTER, 2)}\n`], 'a:1: expected version 1 of the format, got 2'],
    ['a damaged line', [`${started(0)}\n{"at"\n${tick(2)}\n`], 'a:2: expected JSON'],
    ['an empty line', [`${started(0)}\n\n${tick(2)}\n`], 'a:2: expected JSON'],
    [
      'a line that never ends',
      [`${started(0)}\n${' '.repeat(5_000_000)}`],
      'a: a line has more than 4194304 characters',
    ],
    ['what is not packed', [Buffer.from('hello')], 'a.gz: expected gzip: Error: incorrect header check'],
    [
      'time that goes back',
      [`${started(5)}\n${tick(4)}\n`],
      `a:2: time goes back: ${at(4)} comes after ${at(5)} of a:1`,
    ],
    [
      'files in the wrong order',
      [`${started(5)}\n`, `${started(0)}\n`],
      `b:1: time goes back: ${at(0)} comes after ${at(5)} of a:1`,
    ],
    [
      'another cluster',
      [`${started(0)}\n`, `${started(1, { uid: 'other', server: 's' })}\n`],
      'b:1: expected a recording of cluster uid-of-cluster, got one of other',
    ],
  ])('refuses %s', async (_, contents, error) => {
    expect((await readAll(...contents)).error).toBe(error);
  });

  it('refuses a file that does not exist, and a folder', async () => {
    const read = readRecordedLines([join(tempFolder('recording'), 'none')], { warn: () => undefined });
    await expect(read.next()).rejects.toThrow('the file does not exist');
    const folder = readRecordedLines([tempFolder('recording')], { warn: () => undefined });
    await expect(folder.next()).rejects.toThrow('expected a file, got a folder');
  });
});
