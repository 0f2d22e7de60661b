/**
 * Compares our validators with a real API server on random objects: a valid object is broken at
 * random places, and both must accept or both must refuse it. CEL is evaluated by the server only.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { jsonSchemaOf } from '../../../src/api/generate/json-schema.ts';
import { crds } from '../../../src/api/install/install.ts';
import { KINDS } from '../../../src/api/kinds/registry.ts';
import { validate } from '../../../src/api/validation/validate.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError, type KubeError } from '../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { accepted } from '../../api/fixtures/load.ts';
import { writeCase } from '../../api/fixtures/write.ts';
import { runs } from '../../support/sweep-size.ts';
import { type InstalledServer, startInstalledServer } from './installed-server.ts';

let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer(crds());
});
beforeEach(() => installed.server.wipe());
afterAll(() => installed?.stop());

/** Values that a person, a script or a YAML parser might write. */
const STRANGE: readonly unknown[] = [
  null,
  '',
  'x',
  'Kube Node',
  'kubernetes.io/os',
  'ü'.repeat(63),
  '🚀'.repeat(64),
  'a'.repeat(257),
  'a'.repeat(70_000),
  '7',
  '10%',
  '0%',
  '101%',
  '09:30',
  '24:00',
  '2026-11-20T07:00:00Z',
  '2026-11-20T07:00:00.123456789+02:00',
  '2026-11-20t07:00:00z',
  '2026-11-20 07:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-11-20T24:00:00Z',
  'https://example.com/\n',
  `sha256:${'0'.repeat(64)}`,
  `sha256:${'0'.repeat(64)}\n`,
  true,
  false,
  0,
  -1,
  1,
  1.5,
  61,
  1e9,
  2 ** 31,
  2 ** 53 - 1,
  -(2 ** 53) + 1,
  [],
  [null],
  ['a', 'a'],
  [{}],
  Array.from({ length: 600 }, (_, index) => String(index)),
  {},
  { a: 'b' },
  { name: 'x' },
  Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`k${index}`, 'v'])),
];

/** How to break one field of an object. `place` is an index into all fields. */
interface Break {
  readonly place: number;
  readonly act: 'replace' | 'remove' | 'misspell' | 'repeat' | 'add';
  readonly value: unknown;
}

const anyBreak = fc.record<Break>({
  place: fc.nat(10_000),
  act: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'misspell', 'repeat', 'add'),
  value: fc.constantFrom(...STRANGE),
});

const bases = accepted().map(({ object: { status: _status, ...object } }) => object as KubeObject);
const anyBreaks = fc.array(anyBreak, { minLength: 1, maxLength: 3 });

describe('validate and the API server', () => {
  it('agree on randomly broken specs', { timeout: 1_800_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...bases), anyBreaks, async (base, breaks) => {
        const object = brokenAt('spec', base, breaks);
        const create: Write = (client, resource) => client.create(resource, object, { dryRun: true });
        const { ours, theirs } = await verdicts(object, create);
        expect(ours).toEqual(theirs);
      }),
      runs(400, 20_000),
    );
  });

  it('agree on randomly broken statuses', { timeout: 1_800_000 }, async () => {
    const wholes = await Promise.all(KINDS.map(({ kind }) => createWhole(kind)));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...wholes), anyBreaks, async (base, breaks) => {
        const object = brokenAt('status', base, breaks);
        const options = { dryRun: true, subresource: 'status' };
        const replace: Write = (client, resource) => client.replace(resource, object, options);
        const { ours, theirs } = await verdicts(object, replace);
        expect(ours).toEqual(theirs);
      }),
      runs(200, 10_000),
    );
  });
});

type Write = (client: Client, resource: Resource) => Promise<unknown>;

/** With all that was decision, so that a failure shows who decision what of which object. */
async function verdicts(object: KubeObject, write: Write): Promise<{ ours: object; theirs: object }> {
  const problems = validate(object).map(({ path, message }) => `${path}: ${message}`);
  const { schema, words } = await judged(object, write);
  const decision = { words, problems, object };
  return { ours: { refused: problems.length > 0, ...decision }, theirs: { refused: schema, ...decision } };
}

/** With every field of its status set, so that breaking any of them has an effect. */
async function createWhole(kind: string): Promise<KubeObject> {
  const file = join(import.meta.dirname, 'crds.statuses.yaml');
  const statuses = parse(readFileSync(file, 'utf8')) as Readonly<Record<string, object>>;
  const reported = accepted().find((each) => each.kind === kind && each.object['status'] !== undefined);
  const written = reported ?? accepted().find((each) => each.kind === kind);
  if (!written) throw new Error(`the corpus has no ${kind}`);
  const { update: _update, ...created } = written;
  const status = { ...statuses[kind], ...(written.object['status'] as object) };
  return await writeCase(installed.server.client, { ...created, object: { ...written.object, status } });
}

interface Judgement {
  /** Refused by the schema or by the checks of metadata, not by a CEL rule. */
  readonly schema: boolean;
  readonly words: string;
}

async function judged(object: KubeObject, write: Write): Promise<Judgement> {
  const { client } = installed.server;
  const resource = await client.resourceFor(object.apiVersion, object.kind);
  try {
    await write(client, resource);
    return { schema: false, words: 'accepted' };
  } catch (error) {
    if (!isKubeError(error, 'Invalid')) throw error;
    return { schema: !isCel(error), words: error.message };
  }
}

const RULES = new Set(
  KINDS.flatMap(({ rules = [], spec, status }) => [
    ...rules.map(({ message }) => message),
    ...messagesOf(jsonSchemaOf(spec)),
    ...messagesOf(jsonSchemaOf(status)),
  ]),
);

/** With an error of the schema the server runs no rule, so that all causes are of one sort. */
function isCel({ causes }: KubeError): boolean {
  return (
    causes.length > 0 &&
    causes.every(({ message = '' }) => [...RULES].some((words) => message.includes(words)))
  );
}

function messagesOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { 'x-kubernetes-validations': rules = [] } = schema as {
    'x-kubernetes-validations'?: readonly { message: string }[];
  };
  return [...rules.map(({ message }) => message), ...Object.values(schema).flatMap(messagesOf)];
}

function brokenAt(part: 'spec' | 'status', object: KubeObject, breaks: readonly Break[]): KubeObject {
  const copy = structuredClone(object);
  for (const { place, act, value } of breaks) {
    const places = placesOf(copy[part]);
    const [container, key] = places[place % places.length] ?? [copy, part];
    change(container, key, act, structuredClone(value));
  }
  return copy;
}

type Container = Record<string, unknown>;

function change(container: Container, key: string, act: Break['act'], value: unknown): void {
  if (act === 'replace') container[key] = value;
  else if (act === 'add') container['name'] = value;
  else if (act === 'misspell') container[`${key}x`] = container[key];
  else if (act === 'remove') remove(container, key);
  else repeat(container, key);
}

function remove(container: Container, key: string): void {
  if (Array.isArray(container)) container.splice(Number(key), 1);
  else delete container[key];
}

function repeat(container: Container, key: string): void {
  if (Array.isArray(container)) container.push(structuredClone(container[Number(key)]));
  else container[key] = [container[key], container[key]];
}

/** Every place in a value: what holds it, and under which key. */
function placesOf(value: unknown): readonly (readonly [Container, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  const container = value as Container;
  return Object.keys(container).flatMap((key) => [[container, key] as const, ...placesOf(container[key])]);
}
