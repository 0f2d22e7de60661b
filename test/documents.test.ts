/** What documents point to exists: files, pages of the index, commands and their options. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../src/cli/program.ts';
import { testIo } from './support/test-io.ts';

const DECISIONS = 'docs/decisions/';
const GENERATED = /^docs\/reference\/kinds\//;
const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .map((path) => join('docs', path))
  .filter((path) => path.endsWith('.md'));
const written = ['README.md', 'CONTRIBUTING.md', ...pages].filter((path) => !GENERATED.test(path));

describe('documents', () => {
  it.each(written)('%s links to files that exist', (path) => {
    const broken = linksOf(path).filter((target) => !existsSync(target));
    expect(broken).toEqual([]);
  });

  it('are all in the index, but for decisions and generated pages', () => {
    const listed = new Set(linksOf('docs/README.md'));
    const others = pages.filter((path) => !GENERATED.test(path) && !path.startsWith(DECISIONS));
    expect(others.filter((path) => path !== 'docs/README.md' && !listed.has(path))).toEqual([]);
  });

  it.each(pages.filter((path) => path.startsWith(DECISIONS)))(
    '%s has a number, a title and a status',
    (path) => {
      const number = Number(/^(?<number>\d{4})-/.exec(path.slice(DECISIONS.length))?.groups?.['number']);
      const [title, , status] = readFileSync(path, 'utf8').split('\n');
      expect(title).toMatch(new RegExp(`^# ${number}\\. \\S`));
      expect(status).toMatch(/^\*\*Status:\*\* (?:in force|replaced by \[|in force, changed in part by \[)/);
    },
  );
});

describe('command lines in documents', () => {
  let root: Command;
  beforeAll(async () => {
    root = await createProgram(testIo(), []);
  });

  it.each(written.filter((path) => commandLines(path).length > 0))('%s names what exists', (path) => {
    expect(commandLines(path).flatMap((line) => unknownIn(root, line))).toEqual([]);
  });

  it('finds a command, a subcommand and an option that do not exist', () => {
    const lines = [
      'rollouts list',
      'rollout lst',
      'rollout pause SET --now',
      'rollout pause|resume SET',
      'help plan',
    ];
    expect(lines.flatMap((line) => unknownIn(root, line))).toEqual([
      'kubenode rollouts list: no command rollouts',
      'kubenode rollout lst: no command lst',
      'kubenode rollout pause SET --now: no option --now',
    ]);
  });
});

/** Of Markdown, without anchors and addresses. */
function linksOf(path: string): readonly string[] {
  return [...readFileSync(path, 'utf8').matchAll(/\]\((?<target>[^)\s#]+)(?:#[^)]*)?\)/g)]
    .map(({ groups }) => groups?.['target'] ?? '')
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
    .map((target) => normalize(join(dirname(path), target)));
}

/** What follows `kubenode` in inline code, and in code blocks where a line begins with it or with `npx`. */
function commandLines(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8');
  const blocks = text.match(/^```[\s\S]*?^```/gm)?.join('\n') ?? '';
  const inline = text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`kubenode (?<line>[a-z][^`]*)`/g);
  const lines = blocks.matchAll(/^(?:\$ )?(?:npx )?kubenode (?<line>[a-z][^#&>|\n]*)/gm);
  return [...inline, ...lines].map(({ groups }) => (groups?.['line'] ?? '').replaceAll('\n', ' ').trim());
}

/** Alternatives such as `pause|resume` are each looked for. */
function unknownIn(root: Command, line: string): readonly string[] {
  let command = root;
  const words = line.split(/\s+/);
  for (const word of words) {
    const names = word
      .replaceAll('\\', '')
      .replace(/[,;:…].*$/, '')
      .split('|');
    if (command.commands.length === 0 || !/^[a-z]/.test(word) || names[0] === 'help') break;
    const found = names.map((name) => command.commands.find((each) => each.name() === name));
    const missing = names.filter((_, index) => !found[index]);
    if (missing.length > 0) return missing.map((name) => `kubenode ${line}: no command ${name}`);
    command = found[0] ?? command;
  }
  const options = words.flatMap((word) => /^--[a-z][a-z\d-]*/.exec(word)?.[0] ?? []);
  const known = new Set(['--help', ...command.options.map(({ long }) => long)]);
  return options.filter((name) => !known.has(name)).map((name) => `kubenode ${line}: no option ${name}`);
}
