import { Command } from 'commander';
import { expect, it } from 'vitest';
import { addLogOptions, createCommandLog, type LogFlags } from '../../src/cli/log-options.ts';
import { testIo } from '../support/test-io.ts';

it.each([
  ['text on a terminal', [], true, /^\d\d:\d\d:\d\d {2}started {2}port=1\n$/],
  ['JSON elsewhere', [], false, /^\{"level":"info",.*"port":1,"message":"started"\}\n$/],
  ['JSON on a terminal on demand', ['--log-format', 'json'], true, /^\{/],
  ['text in a file on demand', ['--log-format', 'text'], false, /^\d\d:/],
  ['nothing below the level', ['--log-level', 'warn'], true, /^$/],
] as const)('logs %s', (_, args, interactive, expected) => {
  const lines: string[] = [];
  const flags = addLogOptions(new Command())
    .parse([...args], { from: 'user' })
    .opts<LogFlags>();
  const log = createCommandLog(testIo({ interactive }), flags, { write: (line) => lines.push(line) });
  log.info('started', { port: 1 });
  expect(lines.join('')).toMatch(expected);
});
