/**
 * Reads Kubernetes objects from YAML or JSON like the tools of Kubernetes: YAML 1.1, several documents in a file, and
 * Lists split into their items. Reports all problems of a text at once, each with its line. An object that SOPS encrypted
 * stays encrypted.
 */

import { type Document, isMap, LineCounter, parseAllDocuments } from 'yaml';
import { messageOf } from '../../os/errors.ts';
import { isSopsEncrypted, type ReadLeaves, withLeaves } from '../sops/leaves.ts';
import { isRecord, type JsonRecord } from './json.ts';
import type { KubeObject } from './object.ts';
import { MAX_LEVELS, shapeReason } from './shape.ts';

export interface Manifest {
  readonly object: KubeObject;
  /** The first line of the object, counted from 1. */
  readonly line: number;
  /** The line of a field, or of its nearest existing parent. */
  lineOf(path: readonly (string | number)[]): number;
}

export interface ManifestProblem {
  readonly line: number;
  readonly message: string;
}

export interface Manifests {
  readonly manifests: readonly Manifest[];
  readonly problems: readonly ManifestProblem[];
}

export function readManifests(text: string): Manifests {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    version: '1.1',
    lineCounter: lines,
    uniqueKeys: true,
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !isTime(tag)),
  });
  const manifests: Manifest[] = [];
  const problems: ManifestProblem[] = [];
  for (const document of documents as Iterable<Document.Parsed>) {
    if (document.errors.length > 0) {
      problems.push(
        ...document.errors.map((error) => ({
          line: lines.linePos(error.pos[0]).line,
          message: error.code === 'RESOURCE_EXHAUSTION' ? TOO_DEEP : firstLine(error.message),
        })),
      );
    } else if (document.contents !== null) {
      readDocument(document, lines, { manifests, problems });
    }
  }
  return { manifests, problems: [...problems, ...sharedFileProblems(manifests, documents)] };
}

/** SOPS encrypts all documents of a file with one checksum, which no document alone can be verified by. */
function sharedFileProblems(
  manifests: readonly Manifest[],
  documents: Iterable<{ readonly contents: unknown }>,
): ManifestProblem[] {
  const encrypted = manifests.find(({ object }) => isSopsEncrypted(object));
  const count = [...documents].filter(({ contents }) => contents !== null).length;
  return encrypted && count > 1 ? [{ line: encrypted.line, message: ONE_OBJECT }] : [];
}

const ONE_OBJECT =
  'an encrypted file has one object: put each object into a file of its own, and encrypt it there';
const TOO_DEEP = `an object is nested more than ${MAX_LEVELS} levels deep`;

/** The tools of Kubernetes read 2001-12-14 and 12:30 as strings. */
function isTime({ tag, format }: { tag: string; format?: string }): boolean {
  return tag === 'tag:yaml.org,2002:timestamp' || format === 'TIME';
}

interface ReadResult {
  readonly manifests: Manifest[];
  readonly problems: ManifestProblem[];
}

function readDocument(document: Document.Parsed, lines: LineCounter, found: ReadResult): void {
  const start = lineAt(document, lines, []);
  const { value, problem } = valueOf(document);
  if (problem !== undefined) found.problems.push({ line: start, message: problem });
  if (problem !== undefined || value === null) return;
  if (isList(value)) {
    if (isSopsEncrypted(value)) found.problems.push({ line: start, message: ONE_OBJECT });
    value.items.forEach((item, index) => add(item, ['items', index]));
    return;
  }
  add(value, []);

  function add(item: unknown, at: readonly (string | number)[]): void {
    const line = at.length === 0 ? start : lineAt(document, lines, at);
    const invalid = invalidObjectReason(item);
    const read = invalid === undefined ? orderedObject(item as KubeObject, document) : { problem: invalid };
    if ('problem' in read) found.problems.push({ line, message: read.problem });
    else {
      const lineOf = (path: readonly (string | number)[]): number =>
        lineAt(document, lines, [...at, ...path]);
      found.manifests.push({ object: read.object, line, lineOf });
    }
  }
}

function orderedObject(object: KubeObject, { contents }: Document.Parsed): ReadLeaves {
  return isSopsEncrypted(object) ? withLeaves(object, contents) : { object };
}

/** Rejects aliases that expand to huge values. */
function valueOf(document: Document.Parsed): { readonly value: unknown; readonly problem?: string } {
  try {
    return { value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    if (error instanceof RangeError) return { value: undefined, problem: TOO_DEEP };
    return { value: undefined, problem: messageOf(error) };
  }
}

/** Why a value is not a Kubernetes object; undefined when it is one. */
function invalidObjectReason(value: unknown): string | undefined {
  if (!isRecord(value)) return 'expected an object with apiVersion, kind and metadata';
  if (!isText(value['apiVersion'])) return 'apiVersion is missing, or not a string';
  if (!isText(value['kind'])) return 'kind is missing, or not a string';
  const metadata = value['metadata'];
  if (!isRecord(metadata)) return `metadata of this ${value['kind']} is missing`;
  const name = invalidNameReason(value['kind'], metadata);
  const shape = name === undefined ? shapeReason(value) : undefined;
  return shape === undefined ? name : `${value['kind']} ${String(metadata['name'])}: ${shape}`;
}

function invalidNameReason(kind: string, { generateName, name }: JsonRecord): string | undefined {
  if (isText(generateName)) return `generateName of this ${kind} is not allowed: set metadata.name`;
  return isText(name)
    ? undefined
    : `metadata.name of this ${kind} is missing, or not a string (quote numbers)`;
}

function lineAt(document: Document.Parsed, lines: LineCounter, path: readonly (string | number)[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = document.getIn(path.slice(0, length), true);
    const range =
      (node as { range?: readonly number[] | null } | undefined)?.range ?? rangeOfContents(document, length);
    if (range?.[0] !== undefined) return lines.linePos(range[0]).line;
  }
  return 1;
}

function rangeOfContents({ contents }: Document.Parsed, length: number): readonly number[] | undefined {
  return length === 0 && isMap(contents) ? (contents.range ?? undefined) : undefined;
}

function isList(value: unknown): value is { readonly items: readonly unknown[] } {
  return (
    isRecord(value) &&
    typeof value['kind'] === 'string' &&
    value['kind'].endsWith('List') &&
    Array.isArray(value['items'])
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Drops the excerpt of the text that the yaml package appends: the line number is enough. */
function firstLine(message: string): string {
  return (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '');
}
