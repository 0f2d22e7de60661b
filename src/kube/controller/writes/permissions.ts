/**
 * Checks each write against the declaration of its controller. What is not declared throws: a mistake in the program, which no retry helps.
 */
import type { KubeObject, Resource } from '../../objects/object.ts';
import type { Controller } from '../controller.ts';
import { completeIntent, type StatusIntent } from '../intent.ts';
import { type JsonPatchOperation, undeclaredFields, undeclaredPatches } from './declared-fields.ts';

export type Permissions = Pick<Controller, 'name' | 'writes' | 'shares' | 'creates' | 'deletes' | 'evicts'>;

export class UndeclaredWrite extends Error {
  override readonly name = 'UndeclaredWrite';
}

/** Checks a write of all but the status, which the API server would ignore silently. */
export function checkWrite(controller: Permissions, object: KubeObject): void {
  if (object['status'] !== undefined) {
    throw new UndeclaredWrite(
      `controller ${controller.name}: the status of ${object.kind} ${object.metadata.name} is not written by apply or create. Use applyStatus`,
    );
  }
  checkFields(controller, object.kind, undeclaredFields(object.kind, object, declaredBy(controller)));
}

export function checkStatusWrite(controller: Permissions, resource: Resource, intent: StatusIntent): void {
  const object = completeIntent(resource, intent);
  checkFields(controller, resource.kind, undeclaredFields(resource.kind, object, controller.writes));
}

export function checkPatch(
  controller: Permissions,
  object: KubeObject,
  operations: readonly JsonPatchOperation[],
): void {
  checkFields(controller, object.kind, undeclaredPatches(object, operations, declaredBy(controller)));
}

function declaredBy({ writes, shares = [] }: Permissions): readonly string[] {
  return [...writes, ...shares];
}

export function checkCreate(controller: Permissions, kind: string): void {
  checkKind(controller, 'create', kind, controller.creates);
}

export function checkDelete(controller: Permissions, kind: string): void {
  checkKind(controller, 'delete', kind, controller.deletes);
}

export function checkEvict(controller: Permissions): void {
  if (controller.evicts !== true) throw undeclared(controller, 'evict Pods', 'Set its evicts to true');
}

function checkFields(controller: Permissions, kind: string, fields: readonly string[]): void {
  if (fields.length === 0) return;
  const paths = fields.map((field) => `${kind}.${field}`).join(', ');
  throw undeclared(controller, `write ${paths}`, 'Add it to its writes, or leave it out');
}

function checkKind(
  controller: Permissions,
  verb: 'create' | 'delete',
  kind: string,
  declared: readonly string[] = [],
): void {
  if (declared.includes(kind)) return;
  throw undeclared(controller, `${verb} ${kind}`, `Add ${kind} to its ${verb}s`);
}

function undeclared({ name }: Permissions, what: string, hint: string): UndeclaredWrite {
  return new UndeclaredWrite(`controller ${name} may not ${what}: not declared. ${hint}`);
}
