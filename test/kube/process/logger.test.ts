import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { Log } from '../../../src/kube/process/log.ts';
import { createLogger, type LogLevel } from '../../../src/kube/process/logger.ts';
import { redactFields } from '../../../src/kube/process/redact-log.ts';

const clock = { now: () => new Date('2030-01-01T12:00:00Z') };

describe('createLogger', () => {
  it('writes one JSON line with level, time, message and fields', () => {
    expect(written('info', (log) => log.info('machine started', { machine: 'a', batch: 2 }))).toEqual([
      { level: 'info', time: '2030-01-01T12:00:00.000Z', message: 'machine started', machine: 'a', batch: 2 },
    ]);
  });

  it.each<[level: LogLevel, want: string[]]>([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ])('at level %s writes %j', (level, want) => {
    const lines = written(level, (log) => {
      log.debug('a');
      log.info('b');
      log.warn('c');
      log.error('d');
    });
    expect(lines.map((line) => line['level'])).toEqual(want);
  });

  it('flushes a stream that collects lines after a warning and after an error', () => {
    const calls: string[] = [];
    const stream = { write: (line: string) => calls.push(levelOf(line)), flush: () => calls.push('flush') };
    const log = createLogger({ level: 'debug', stream, clock }).with({ a: 1 });
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    expect(calls).toEqual(['debug', 'info', 'warn', 'flush', 'error', 'flush']);
  });

  it('adds the fields of its parents, of which the nearest has precedence', () => {
    const lines = written('info', (log) => log.with({ a: 1, b: 1 }).with({ b: 2 }).info('x', { c: 3 }));
    expect(lines[0]).toMatchObject({ a: 1, b: 2, c: 3 });
  });

  it('escapes what would control a terminal', () => {
    const [raw = ''] = rawLines('info', (log) => log.info('x', { subject: 'a\u001b[2J\u009b2J\u202e\nb' }));
    expect(raw.trimEnd()).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(JSON.parse(raw)).toMatchObject({ subject: 'a\u001b[2J\u009b2J\u202e\nb' });
  });

  it('renames fields with reserved names', () => {
    const raw = rawLines('info', (log) => log.info('right', { message: 'wrong', level: 'x', time: 'y' }));
    expect(raw[0]?.match(/"message":/g)).toHaveLength(1);
    expect(JSON.parse(raw[0] ?? '')).toMatchObject({ message: 'right', message_: 'wrong', level: 'info' });
  });

  it('writes an error with code, status and the chain of causes', () => {
    const error = new KubeError('Conflict', 'PUT machines/a: changed', {
      status: 409,
      cause: new Error('inner', { cause: Object.assign(new Error('deepest'), { code: 'ECONNRESET' }) }),
    });
    const [line] = written('info', (log) => log.warn('machine not started', { error }));
    expect(line?.['error']).toMatchObject({
      name: 'KubeError',
      code: 'Conflict',
      status: 409,
      message: 'PUT machines/a: changed',
      cause: { message: 'inner', cause: { message: 'deepest', code: 'ECONNRESET' } },
    });
  });

  it('writes the stack only of errors without a code', () => {
    expect(redactFields({ error: new TypeError('bug') })).toHaveProperty(['error', 'stack']);
    expect(redactFields({ error: new KubeError('Gone', 'old') })).not.toHaveProperty(['error', 'stack']);
  });

  it('writes all errors of an AggregateError', () => {
    const error = new AggregateError([new Error('one'), new Error('two')], 'both');
    expect(redactFields({ error })).toMatchObject({
      error: { errors: [{ message: 'one' }, { message: 'two' }] },
    });
  });
});

describe('messages', () => {
  /** Matches a template, a variable or a concatenation. A choice between two constants is allowed. */
  const VARYING = /\blog\.(?:debug|info|warn|error)\(\s*(?:`|[\w.]+\s*[,)]|'[^'\n]*'\s*\+|"[^"\n]*"\s*\+)/g;

  it('are constant in all sources', () => {
    const varying = ['src', 'fleet', 'rules'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .flatMap((file) =>
          [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(VARYING)].map(
            ([call]) => `${folder}/${file}: ${call}`,
          ),
        ),
    );
    expect(varying).toEqual([]);
  });

  it.each([
    ['log.info(`started ${name}`)', true],
    ["log.warn('started ' + name)", true],
    ['log.error(message, { key })', true],
    ['log.debug(error.message)', true],
    ["log.info('started', { name })", false],
    ["log.info(again ? 'replaced' : 'applied', fields)", false],
  ])('%s varies: %s', (call, varies) => {
    expect([...call.matchAll(VARYING)].length > 0).toBe(varies);
  });
});

function rawLines(level: LogLevel, act: (log: Log) => void): string[] {
  const lines: string[] = [];
  act(createLogger({ level, clock, stream: { write: (line) => lines.push(line) } }));
  return lines;
}

function written(level: LogLevel, act: (log: Log) => void): Record<string, unknown>[] {
  return rawLines(level, act).map((line) => JSON.parse(line) as Record<string, unknown>);
}

function levelOf(line: string): string {
  return (JSON.parse(line) as { readonly level: string }).level;
}
