import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version?: string;
  readonly engines?: unknown;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;

// npm leaves out what the registry at hand does not have, and `npm ci` refuses such a file everywhere.
it('names the packages of every platform (or: node scripts/complete-lock.js)', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !packages[`${path}/node_modules/${name}`] && !packages[`node_modules/${name}`],
    ),
  );
  expect(missing).toEqual([]);
});

// npm compares engines with the Node that runs npm; only our own apply to that one.
it('states no engines of dependencies (or: node scripts/complete-lock.js)', () => {
  const stating = Object.entries(packages).filter(([, { engines }]) => engines !== undefined);
  expect(stating).toEqual([['', expect.objectContaining({ engines: { node: '>=20' } })]]);
});

it('has only packages that accept the Node that the project brings', () => {
  const node = packages['node_modules/node']?.version ?? '';
  const refusing = Object.keys(packages).flatMap((path) => {
    const range = nodeRangeOf(path);
    return path === '' || range === undefined || accepts(range, node) ? [] : [`${path}: ${range}`];
  });
  expect(node).toMatch(/^\d+\.\d+\.\d+$/);
  expect(refusing).toEqual([]);
});

it.each([
  ['^22.12.0 || ^24.0.0 || >=26.0.0', true],
  ['>= 10.*', true],
  ['4.x || >=6.0.0', true],
  ['^20.19.0 || ^22', false],
  ['>=26.11', false],
  ['>=20 <26', false],
  ['*', true],
])('a package for Node %s accepts 26.10.0: %s', (range, expected) => {
  expect(accepts(range, '26.10.0')).toBe(expected);
});

/** Undefined for a package of another platform, which is not installed here, and for one that accepts any Node. */
function nodeRangeOf(path: string): string | undefined {
  const file = `${path}/package.json`;
  if (!existsSync(file)) return undefined;
  const { engines } = JSON.parse(readFileSync(file, 'utf8')) as { engines?: { node?: string } };
  return engines?.node;
}

/** The part of npm's version ranges that packages use in `engines`. */
function accepts(range: string, version: string): boolean {
  return range.split('||').some((all) => {
    const comparators = [...all.matchAll(/(?<operator>[<>=^~]*)\s*(?<bound>\d+(?:\.\w+|\.\*)*|\*)/g)];
    return comparators.every(({ groups }) =>
      holds(version, groups?.['operator'] ?? '', groups?.['bound'] ?? ''),
    );
  });
}

function holds(version: string, operator: string, bound: string): boolean {
  const parts = bound.split('.').map(Number).filter(Number.isInteger);
  const actual = version.split('.').map(Number);
  const difference = parts.map((part, index) => (actual[index] ?? 0) - part).find((each) => each !== 0) ?? 0;
  if (operator === '>=') return difference >= 0;
  if (operator === '<') return difference < 0;
  return difference >= 0 && (parts.length === 0 || actual[0] === parts[0]);
}
