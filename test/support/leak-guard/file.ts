/**
 * Fails each test file that leaves a process, listening socket or folder. A setup file of vitest: its hooks are registered first,
 * so its afterAll runs after all others of the file.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { removeFoldersOfFile } from '../temp.ts';
import { isKeptForRun } from './kept.ts';
import { bootTicks, end, FILE_MARK, listeners, processesOf, RUN_FOLDER, socketInodes } from './leaks.ts';
import { whenSkipped } from './skipped.ts';
import { untilClean } from './until-clean.ts';

/** Caches of Node and npm, shared by all programs of this machine: tests do not create them on purpose. */
const CACHES = new Set(['node-compile-cache', 'v8-compile-cache-0']);

const mark = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
const outside = process.env['TMPDIR'];
// Every program that a test starts uses $TMPDIR, so one folder contains everything that they leave.
// Short: the path of a unix socket has room for 107 characters.
const inside = join(process.env[RUN_FOLDER] ?? tmpdir(), `file-${mark}`);
mkdirSync(inside, { recursive: true });
process.env['TMPDIR'] = inside;
process.env[FILE_MARK] = mark;

const openBefore = socketInodes();
const began = bootTicks();

afterAll(async () => {
  removeFoldersOfFile();
  const leaks = await untilClean(() => [...processes(), ...listeners(openBefore), ...folders()]);
  if (leaks.length > 0) end(leftProcesses());
  leaveFolder();
  if (leaks.length > 0) throw new Error(`this test file leaks:\n  ${leaks.join('\n  ')}`);
});

whenSkipped(() => {
  removeFoldersOfFile();
  leaveFolder();
});

function leaveFolder(): void {
  if (outside === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = outside;
  rmSync(inside, { recursive: true, force: true });
}

function processes(): string[] {
  return leftProcesses().map(({ pid, command }) => `process ${pid}: ${command}`);
}

function leftProcesses(): ReturnType<typeof processesOf> {
  const found = processesOf(`${FILE_MARK}=${mark}`, { parent: process.pid, since: began });
  return found.filter(({ pid }) => !isKeptForRun(pid));
}

function folders(): string[] {
  const left = readdirSync(inside).filter((name) => !CACHES.has(name));
  return left.map((name) => `file or folder ${join(inside, name)}`);
}
