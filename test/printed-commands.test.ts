/** Every command line that documents and help texts print is one that the program accepts, with its options and arguments. Nothing runs. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../src/cli/program.ts';
import { deadEnds } from './support/dead-ends.ts';
import { createRefusedReason, type RefusedReason } from './support/parsed-commands.ts';
import { shellCommands } from './support/shell-lines.ts';
import { testIo } from './support/test-io.ts';

const GENERATED = /^docs\/reference\/kinds\//;
const PAGES = ['README.md', 'CONTRIBUTING.md']
  .concat(readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((path) => join('docs', path)))
  .filter((path) => path.endsWith('.md') && !GENERATED.test(path));
/** Blocks of these languages are shell scripts. */
const SHELL = new Set(['sh', 'bash', 'console']);
/** In a block without a language, which may be output or a picture. */
const COMMAND_LINE = /^ *(?:\$ )?(?<line>(?:\(umask \d+; )?(?:(?:npx )?kubenode|node \S*agent\.mjs|npm) .*)$/;

let refusedReason: RefusedReason;
beforeAll(async () => {
  refusedReason = await createRefusedReason();
});

describe('shell blocks in documents', () => {
  const printed = PAGES.map((path) => [path, commandsOn(path)] as const).filter(
    ([, commands]) => commands.length > 0,
  );

  it('are found in the guides', () => {
    const kubenode = printed.filter(([, commands]) => commands.some(([program]) => program === 'kubenode'));
    expect(kubenode.map(([path]) => path)).toEqual(
      expect.arrayContaining(['README.md', 'docs/guides/demo.md', 'docs/guides/try-the-defender.md']),
    );
    expect(kubenode.flatMap(([, commands]) => commands).length).toBeGreaterThan(100);
  });

  it.each(printed)('%s prints commands that kubenode and npm accept', (_, commands) => {
    expect(refusals(commands)).toEqual([]);
  });

  it.each(printed)('%s leads into no dead end when all of it is run after README.md', (path, commands) => {
    expect(deadEnds(commands, path === 'README.md')).toEqual([]);
  });

  it('are refused for a command, an option, a value or an argument that does not exist', () => {
    const script = `kubenode polt
      npx kubenode local up --cluster 4 &
      X=$(kubenode rollout list --output xml | head -1)
      for c in a b; do kubenode status a b; done
      node agent.mjs unit
      npm run syntesize -- x`;
    expect(refusals(shellCommands(script).map(runnable))).toEqual([
      "kubenode polt: unknown command 'polt'",
      "kubenode local up --cluster 4: unknown option '--cluster'",
      expect.stringContaining("argument 'xml' is invalid"),
      "kubenode status a b: too many arguments for 'status'. Expected 1 argument but got 2: a, b.",
      "kubenode agent unit: required option '--machine <name>' not specified",
      'npm run syntesize: no such script',
    ]);
  });
});

describe('examples in help texts', () => {
  it('are accepted by kubenode', async () => {
    const examples = await helpExamples();
    expect(examples.length).toBeGreaterThan(80);
    expect(refusals(examples)).toEqual([]);
  });
});

type Words = readonly string[];

function commandsOn(path: string): readonly Words[] {
  const blocks = readFileSync(path, 'utf8').matchAll(/^ *```(?<language>\w*)\n(?<body>[\s\S]*?)^ *```/gm);
  const scripts = [...blocks].map(({ groups: { language = '', body = '' } = {} }) => {
    if (SHELL.has(language)) return body;
    return language === ''
      ? body
          .split('\n')
          .flatMap((line) => COMMAND_LINE.exec(line)?.groups?.['line'] ?? [])
          .join('\n')
      : '';
  });
  return scripts.flatMap((script) => shellCommands(script)).map(runnable);
}

/** The bundle of the agent has the commands of `kubenode agent`. */
function runnable(words: Words): Words {
  const [program = '', first = '', ...rest] = words;
  if (program === 'npx') return words.slice(1);
  return program === 'node' && first.endsWith('agent.mjs') ? ['kubenode', 'agent', ...rest] : words;
}

function refusals(commands: readonly Words[]): readonly string[] {
  return commands.flatMap(([program, ...words]) => {
    if (program === 'kubenode') return refusedReason(words) ?? [];
    return program === 'npm' ? (missingScript(words) ?? []) : [];
  });
}

function missingScript([command, name = '']: Words): string | undefined {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object };
  const script = command === 'run' ? name : command;
  const isOurs = command === 'run' || command === 'test' || command === 'start';
  return !isOurs || Object.hasOwn(scripts, script ?? '')
    ? undefined
    : `npm ${command} ${name}: no such script`;
}

/** Of every command: the lines of its help that begin with `kubenode`, up to their explanation. */
async function helpExamples(): Promise<readonly Words[]> {
  const io = testIo();
  printHelp(await createProgram(io, []));
  const lines = io.stdout.matchAll(/^ {2}(?<line>kubenode \S.*?)(?: {2,}.*)?$/gm);
  const scripts = [...lines].map(({ groups }) => groups?.['line'] ?? '');
  return scripts.flatMap((script) => shellCommands(script)).filter(([program]) => program === 'kubenode');
}

function printHelp(command: Command): void {
  command.outputHelp();
  for (const child of command.commands) printHelp(child);
}
