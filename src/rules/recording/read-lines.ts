/** Reads recordings line by line: a week of a large fleet does not fit into memory. */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { OsError, systemCode } from '../../os/errors.ts';
import { toDiskError } from '../../os/files.ts';
import type { RecordedCluster } from './format.ts';
import { type ParsedLine, parseRecordedLine } from './parse-line.ts';

export interface ReadLine extends ParsedLine {
  /** `facts.jsonl:12` */
  readonly where: string;
}

export interface RecordingReadOptions {
  /** Called for a last line that is not complete: its recorder was killed. */
  readonly warn: (message: string) => void;
  readonly signal?: AbortSignal;
}

/** The maximum length of a line. No line of a recorder is nearly as long. */
const MAX_LINE = 4 * 1024 * 1024;

/** Reads the lines of all files as if they were one. Throws BadInput for the first line that cannot be used. */
export async function* readRecordedLines(
  paths: readonly string[],
  options: RecordingReadOptions,
): AsyncGenerator<ReadLine> {
  let before: ReadLine | undefined;
  let cluster: RecordedCluster | undefined;
  for (const path of paths) {
    let count = 0;
    for await (const read of readFileLines(path, options)) {
      count += 1;
      const { line, where } = read;
      if (count === 1 && line.type !== 'Started') {
        throw notRecording(where, 'expected a line of type Started');
      }
      checkOrder(read, before);
      if (line.type === 'Started') cluster = sameCluster(line.cluster, cluster, where);
      before = read;
      yield read;
    }
    if (count === 0) throw notRecording(path, 'the file is empty');
  }
}

function checkOrder({ atMs, where }: ReadLine, before: ReadLine | undefined): void {
  if (!before || atMs >= before.atMs) return;
  const [at, last] = [atMs, before.atMs].map((ms) => new Date(ms).toISOString());
  throw new OsError('BadInput', `time goes back: ${at} comes after ${last} of ${before.where}`, {
    where,
    hint: 'pass older recordings before newer ones, and do not edit them',
  });
}

function sameCluster(
  cluster: RecordedCluster,
  before: RecordedCluster | undefined,
  where: string,
): RecordedCluster {
  if (!before || before.uid === cluster.uid) return cluster;
  throw new OsError('BadInput', `expected a recording of cluster ${before.uid}, got one of ${cluster.uid}`, {
    where,
    hint: 'replay the recordings of one cluster at a time',
  });
}

async function* readFileLines(path: string, options: RecordingReadOptions): AsyncGenerator<ReadLine> {
  let number = 0;
  for await (const { text, isComplete } of splitLines(path, options.signal)) {
    number += 1;
    const where = `${path}:${number}`;
    const parsed = parseRecordedLine(text);
    if (!('problem' in parsed)) yield { ...parsed, where };
    else if (isComplete || number === 1) throw notRecording(where, parsed.problem);
    else options.warn(`${where}: the last line is not complete: it is ignored`);
  }
}

interface TextLine {
  readonly text: string;
  /** Whether the line ends with a line break. */
  readonly isComplete: boolean;
}

async function* splitLines(path: string, signal: AbortSignal | undefined): AsyncGenerator<TextLine> {
  let rest = '';
  for await (const chunk of readText(path, signal)) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE) throw notRecording(path, `a line has more than ${MAX_LINE} characters`);
    for (const text of lines) yield { text, isComplete: true };
  }
  if (rest !== '') yield { text: rest, isComplete: false };
}

async function* readText(path: string, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 });
  const source = path.endsWith('.gz') ? pipeline(file, createGunzip(), () => undefined) : file;
  source.setEncoding('utf8');
  try {
    for await (const chunk of source) {
      signal?.throwIfAborted();
      yield chunk as string;
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw fileError(error, path);
  }
}

function fileError(error: unknown, path: string): unknown {
  const code = systemCode(error) ?? '';
  if (code === 'ENOENT') return notRecording(path, 'the file does not exist');
  if (code === 'EISDIR') return notRecording(path, 'expected a file, got a folder');
  return code.startsWith('Z_')
    ? notRecording(path, `expected gzip: ${String(error)}`)
    : toDiskError(error, path);
}

function notRecording(where: string, problem: string): OsError {
  return new OsError('BadInput', `the recording cannot be read: ${problem}`, {
    where,
    hint: 'record facts with: kubenode rules record --to FILE',
  });
}
