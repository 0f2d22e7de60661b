/**
 * Folders of plain YAML: `hub/…` for the hub, `clusters/<name>/…` for a cluster. A subfolder is a unit; files outside of
 * subfolders are the unit `default`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from '../../../api/validation/validate.ts';
import { readManifests } from '../../../kube/objects/manifests.ts';
import type { Output } from './output.ts';

const MANIFEST = /\.(ya?ml|json)$/;

export function renderPlain(root: string, folder: string, out: Output): void {
  for (const path of filesBelow(root, folder)) {
    const destination = destinationOf(path.slice(folder === '.' ? 0 : folder.length + 1));
    if (destination) renderFile(root, path, destination, out);
  }
}

interface Destination {
  readonly target: string;
  readonly unit: string;
}

/** Returns the target of a file. Undefined for a file that belongs to none. */
export function destinationOf(path: string): Destination | undefined {
  const [first = '', ...rest] = path.split('/');
  if (first === 'hub') return { target: 'hub', unit: unitOf(rest) };
  if (first !== 'clusters' || rest.length < 2) return undefined;
  const [target = '', ...below] = rest;
  return { target, unit: unitOf(below) };
}

function unitOf(path: readonly string[]): string {
  return path.length > 1 ? (path[0] ?? 'default') : 'default';
}

function renderFile(root: string, file: string, { target, unit }: Destination, out: Output): void {
  const { manifests, problems } = readManifests(readFileSync(join(root, file), 'utf8'));
  for (const { message, line } of problems) out.problem('BadObject', { message, file, line });
  for (const manifest of manifests) {
    const { object, line } = manifest;
    for (const { path, message } of validate(object)) {
      const text = `${object.kind} ${object.metadata.name}: ${path}: ${message}`;
      out.problem('BadObject', { message: text, file, line: manifest.lineOf(stepsOf(path)) });
    }
    out.object({ object, target, unit, file: `${file}:${line}` });
  }
}

/** Lists the manifests of a folder, sorted, because the order of readdir differs between machines. */
export function filesBelow(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && MANIFEST.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !path.split('/').some((part) => part.startsWith('.') || part === 'node_modules'))
    .toSorted();
}

/** Splits `spec.stages[0].name` into its fields and indexes. */
function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[(?<index>\d+)\]|(?<name>[^.[\]"]+)/g)].map(({ groups }) =>
    groups?.['index'] === undefined ? (groups?.['name'] ?? '') : Number(groups['index']),
  );
}
