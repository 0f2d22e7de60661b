/** The write operations of the client. Always with fieldValidation=Strict: an unknown field is an error, not dropped. */
import type { KubeObject, ObjectName, Resource } from '../objects/object.ts';
import { optional } from '../objects/optional.ts';
import type { HttpRequest } from '../transport/transport.ts';
import type { ApplyOptions, Client, DeleteOptions, Patch, WriteOptions } from './client.ts';
import { collectionPath, labelOf, nameOf, objectPath } from './paths.ts';
import { limitsOf } from './reads.ts';
import type { ApiCalls, ApiVerb } from './request.ts';
import { parseAnyObject, parseDeleted, parseObject } from './response.ts';
import { isSecretResource, withoutSecretValues } from './secret-errors.ts';

const APPLY = 'application/apply-patch+yaml';
const PATCHES = { merge: 'application/merge-patch+json', json: 'application/json-patch+json' } as const;

export function createWrites(
  calls: ApiCalls,
): Pick<Client, 'apply' | 'create' | 'replace' | 'patch' | 'delete'> {
  return {
    apply: <T = KubeObject>(resource: Resource, object: KubeObject, options: ApplyOptions) =>
      write<T>(calls, {
        verb: 'apply',
        resource,
        name: nameOf(object),
        options,
        method: 'PATCH',
        contentType: APPLY,
        body: object,
        query: { force: String(options.force ?? false) },
      }),
    create: <T = KubeObject>(resource: Resource, object: KubeObject, options: WriteOptions = {}) =>
      write<T>(calls, {
        verb: 'create',
        resource,
        name: nameOf(object),
        options,
        method: 'POST',
        body: object,
      }),
    replace: <T = KubeObject>(resource: Resource, object: KubeObject, options: WriteOptions = {}) =>
      write<T>(calls, {
        verb: 'replace',
        resource,
        name: nameOf(object),
        options,
        method: 'PUT',
        body: object,
      }),
    patch: <T = KubeObject>(
      resource: Resource,
      name: ObjectName,
      patch: Patch,
      options: WriteOptions = {},
    ) => {
      const contentType = PATCHES[patch.type];
      return write<T>(calls, {
        verb: 'patch',
        resource,
        name,
        options,
        method: 'PATCH',
        contentType,
        body: patch.body,
      });
    },
    delete: (resource, name, options) => remove(calls, { resource, name, options }),
  };
}

interface Write {
  readonly verb: ApiVerb;
  readonly resource: Resource;
  readonly name: ObjectName;
  readonly options: WriteOptions;
  readonly method: HttpRequest['method'];
  readonly body: unknown;
  readonly contentType?: string;
  readonly query?: Readonly<Record<string, string>>;
}

async function write<T>(calls: ApiCalls, asked: Write): Promise<T> {
  const { verb, resource, name, options, method, body, contentType } = asked;
  const { subresource, fieldManager, dryRun } = options;
  const request: HttpRequest = {
    method,
    path: pathOf(asked),
    query: { fieldManager, fieldValidation: 'Strict', dryRun: dryRun ? 'All' : undefined, ...asked.query },
    body: JSON.stringify(body),
    ...(contentType ? { contentType } : {}),
    ...limitsOf(options),
  };
  return calls.send({ verb, what: labelOf(resource, name) }, request, (response) =>
    guarded(asked, () => {
      const isWholeObject = subresource === undefined || subresource === 'status';
      // With generateName, the server chooses the name.
      const known = name.name === undefined || name.name === '' ? undefined : name.name;
      return (isWholeObject ? parseObject(response, resource, known) : parseAnyObject(response)) as T;
    }),
  );
}

/** No error of a write of a Secret holds its values. */
function guarded<T>({ resource, body }: Pick<Write, 'resource' | 'body'>, read: () => T): T {
  if (!isSecretResource(resource)) return read();
  try {
    return read();
  } catch (error) {
    throw withoutSecretValues(error, body);
  }
}

/** A new object is posted to its collection; a subresource (binding, eviction, token) to its object. */
function pathOf({ verb, resource, name, options: { subresource } }: Write): string {
  if (verb === 'create' && subresource === undefined) return collectionPath(resource, name.namespace);
  return objectPath(resource, name, subresource);
}

interface Removal {
  readonly resource: Resource;
  readonly name: ObjectName;
  readonly options: DeleteOptions;
}

async function remove(
  calls: ApiCalls,
  { resource, name, options }: Removal,
): Promise<KubeObject | undefined> {
  const { uid, resourceVersion, propagation, gracePeriodSeconds, dryRun, subresource } = options;
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions: { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
    ...optional('gracePeriodSeconds', gracePeriodSeconds),
    ...(dryRun ? { dryRun: ['All'] } : {}),
  };
  const request: HttpRequest = {
    method: 'DELETE',
    path: objectPath(resource, name, subresource),
    body: JSON.stringify(body),
    ...limitsOf(options),
  };
  const call = { verb: 'delete', what: labelOf(resource, name) } as const;
  return calls.send(call, request, (response) =>
    guarded({ resource, body }, () => parseDeleted(response, resource)),
  );
}
