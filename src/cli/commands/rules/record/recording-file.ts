/** The file that facts are recorded in: each line is written at once, so that a process that is killed loses none. */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { systemCode } from '../../../../os/errors.ts';
import { PRIVATE_MODE, toDiskError } from '../../../../os/files.ts';
import type { RecordedLine } from '../../../../rules/recording/format.ts';
import { parseRecordedLine } from '../../../../rules/recording/parse-line.ts';
import { CliError, EXIT } from '../../../errors.ts';

export interface RecordingFile {
  write(line: RecordedLine): void;
  readonly lines: number;
  close(): void;
}

export interface OpenRecording {
  readonly path: string;
  readonly append: boolean;
  readonly clusterUID: string;
  readonly now: Date;
}

/** A new file, or one that ends before now and is of the same cluster. */
export function openRecording(options: OpenRecording): RecordingFile {
  const { path, append } = options;
  const file = open(path, append);
  let lines = 0;
  try {
    if (append) continueAfter(file, options);
  } catch (error) {
    closeSync(file);
    throw error;
  }
  return {
    write: (line) => {
      try {
        writeSync(file, `${JSON.stringify(line)}\n`);
        lines += 1;
      } catch (error) {
        throw toDiskError(error, path);
      }
    },
    get lines() {
      return lines;
    },
    close: () => closeSync(file),
  };
}

function open(path: string, append: boolean): number {
  try {
    return openSync(path, append ? 'a+' : 'ax', PRIVATE_MODE);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw toDiskError(error, path);
    throw new CliError('the file exists already', {
      where: path,
      hint: 'continue it with --append, or choose another name',
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
}

function continueAfter(file: number, { path, clusterUID, now }: OpenRecording): void {
  const { size } = fstatSync(file);
  if (size === 0) return;
  checkStart(readAt(file, 0, Math.min(size, MAX_LINE)), { path, clusterUID });
  const start = Math.max(0, size - MAX_LINE);
  const tail = readAt(file, start, size - start);
  // A process that was killed may have written half a line.
  const end = tail.lastIndexOf('\n') + 1;
  const last = parseRecordedLine(linesIn(tail.subarray(0, end)).at(-1) ?? '');
  if ('problem' in last) throw refused(path, `its last line cannot be read: ${last.problem}`);
  if (last.atMs > now.getTime()) {
    throw refused(path, `its last line is of ${last.line.at}, which is after now`);
  }
  if (start + end < size) ftruncateSync(file, start + end);
}

function checkStart(head: Buffer, { path, clusterUID }: Pick<OpenRecording, 'path' | 'clusterUID'>): void {
  const first = parseRecordedLine(linesIn(head)[0] ?? '');
  if ('problem' in first) throw refused(path, first.problem);
  const { line } = first;
  if (line.type !== 'Started') throw refused(path, 'the file is not a recording');
  if (line.cluster.uid !== clusterUID) throw refused(path, 'it is a recording of another cluster');
}

const MAX_LINE = 4 * 1024 * 1024;

function readAt(file: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  const read = readSync(file, buffer, 0, length, position);
  return buffer.subarray(0, read);
}

function linesIn(buffer: Buffer): readonly string[] {
  return buffer
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}

function refused(path: string, why: string): CliError {
  return new CliError(`the recording cannot be continued: ${why}`, {
    where: path,
    hint: 'record into another file',
    exitCode: EXIT.badInput,
  });
}
