/** How each answer is interpreted. */
import { describe, expect, it } from 'vitest';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import {
  type Answer,
  APPLY,
  createClientBed,
  failing,
  listAnswer,
  MACHINE,
  MACHINES,
  NODE,
  NODES,
  SERVER,
  status,
} from '../../support/kube/client-bed.ts';

describe('answers', () => {
  it.each<[answer: Answer | string, code: KubeErrorCode, retryAfterSeconds?: number]>([
    [status(400, 'BadRequest'), 'Invalid'],
    [status(401, 'Unauthorized'), 'Unauthorized'],
    [status(403, 'Forbidden'), 'Forbidden'],
    [status(404, 'NotFound'), 'NotFound'],
    [status(405, 'MethodNotAllowed'), 'Invalid'],
    [status(409, 'Conflict'), 'Conflict'],
    [status(409, 'AlreadyExists'), 'AlreadyExists'],
    [status(410, 'Expired'), 'Gone'],
    [status(410, 'Gone'), 'Gone'],
    [status(413, 'RequestEntityTooLarge'), 'Invalid'],
    [status(422, 'Invalid'), 'Invalid'],
    [{ ...status(429, 'TooManyRequests'), headers: { 'retry-after': '7' } }, 'TooManyRequests', 7],
    [status(429, 'TooManyRequests', { details: { retryAfterSeconds: 3 } }), 'TooManyRequests', 3],
    [{ status: 429, body: 'slow down', headers: { 'retry-after': '1' } }, 'TooManyRequests', 1],
    [{ status: 429, body: 'slow down', headers: { 'retry-after': '3600' } }, 'TooManyRequests', 60],
    [status(429, 'TooManyRequests', { details: { retryAfterSeconds: 86_400 } }), 'TooManyRequests', 60],
    [status(500, 'InternalError'), 'ServerError'],
    [{ ...status(503, 'ServiceUnavailable'), headers: { 'retry-after': '2' } }, 'ServerError', 2],
    [{ status: 502, body: '<html>bad gateway</html>' }, 'ServerError'],
    [status(504, 'Timeout'), 'Timeout'],
    // An answer that is not from an API server proves nothing about our object.
    [{ status: 404, body: '404 page not found\n' }, 'BadAnswer'],
    [{ status: 404, body: { kind: 'Status', code: 404 } }, 'BadAnswer'],
    [{ status: 409, body: 'edit conflict' }, 'BadAnswer'],
    [{ status: 410, body: 'this site is closed' }, 'BadAnswer'],
    [{ status: 302, headers: { location: '/login' }, body: '' }, 'BadAnswer'],
    [{ status: 204, body: '' }, 'BadAnswer'],
    ['', 'BadAnswer'],
    ['   \n', 'BadAnswer'],
    ['null', 'BadAnswer'],
    ['[]', 'BadAnswer'],
    ['"ok"', 'BadAnswer'],
    ['{}', 'BadAnswer'],
    ['<html>login</html>', 'BadAnswer'],
    [JSON.stringify(NODE).slice(0, -5), 'BadAnswer'],
    [{ body: { ...NODE, kind: 'Pod' } }, 'BadAnswer'],
    [{ body: { ...NODE, apiVersion: 'v2' } }, 'BadAnswer'],
    [{ body: { ...NODE, metadata: { name: 'b' } } }, 'BadAnswer'],
    [{ body: { ...NODE, metadata: {} } }, 'BadAnswer'],
    [{ body: { kind: 'Status', status: 'Success' } }, 'BadAnswer'],
  ])('%j of a get is %s', async (answer, code, retryAfterSeconds) => {
    const error = await failing(createClientBed(answer).client.get(NODES, { name: 'a' }));
    expect(error).toMatchObject({ code, retryAfterSeconds });
    expect(error.message).toMatch(/^get Node a at https:\/\/cluster.example:6443: /);
  });

  it.each<[name: string, answer: Answer | string]>([
    ['empty body', ''],
    ['empty object', '{}'],
    ['no items', { body: { kind: 'NodeList', metadata: { resourceVersion: '9' } } }],
    ['items that are null', { body: { kind: 'NodeList', metadata: { resourceVersion: '9' }, items: null } }],
    ['no metadata', { body: { kind: 'NodeList', items: [] } }],
    ['no resourceVersion', listAnswer([], {})],
    ['an empty resourceVersion', listAnswer([], { resourceVersion: '' })],
    ['another kind', { body: { kind: 'PodList', metadata: { resourceVersion: '9' }, items: [] } }],
    ['a table', { body: { kind: 'Table', metadata: { resourceVersion: '9' }, rows: [] } }],
    ['an item without a name', listAnswer([{ metadata: {} }])],
    ['an item that is null', listAnswer([null])],
  ])('a list with %s is rejected', async (_, answer) => {
    expect((await failing(createClientBed(answer).client.list(NODES))).code).toBe('BadAnswer');
  });

  it('have a kind, even in lists of built-in kinds', async () => {
    const { items } = await createClientBed(listAnswer([{ metadata: { name: 'a' } }])).client.list(NODES);
    expect(items).toEqual([{ apiVersion: 'v1', kind: 'Node', metadata: { name: 'a' } }]);
  });

  it('keep the causes of an error, for each field', async () => {
    const causes = [{ reason: 'FieldValueInvalid', message: 'too small', field: 'spec.replicas' }];
    const error = await failing(
      createClientBed(status(422, 'Invalid', { details: { causes } })).client.apply(MACHINES, MACHINE, APPLY),
    );
    expect(error).toMatchObject({ code: 'Invalid', status: 422, reason: 'Invalid', causes });
    expect(error.message).toBe(`apply Machine x/m at ${SERVER}: words`);
  });

  it.each([
    ['a reason of several words', { reason: 'no such luck' }],
    ['a reason of 65 characters', { reason: 'R'.repeat(65) }],
    ['a reason that is not a text', { reason: 5 }],
    ['causes that are not a list', { details: { causes: 'all' } }],
    ['a cause that is null', { details: { causes: [null] } }],
  ])('keep nothing of %s', async (_, fields) => {
    const error = await failing(
      createClientBed({ status: 422, body: { kind: 'Status', ...fields } }).client.apply(
        MACHINES,
        MACHINE,
        APPLY,
      ),
    );
    expect(error).toMatchObject({ code: 'Invalid', reason: undefined, causes: [] });
  });

  it('are Invalid for an unknown field in an apply, in spite of status 500', async () => {
    const message =
      'failed to create typed patch object (x/m; /v1, Kind=ConfigMap): .nope: field not declared in schema';
    const answer = { status: 500, body: { kind: 'Status', status: 'Failure', message, code: 500 } };
    expect((await failing(createClientBed(answer).client.apply(MACHINES, MACHINE, APPLY))).code).toBe(
      'Invalid',
    );
  });

  it.each([
    "policy: failed to find resource referenced by paramKind: 'kubenode.dev/v1alpha1, Kind=Machine'",
    'binding: paramKind kind `&ParamKind{Kind:Machine,}` not known',
    'binding: paramKind kind `&ParamKind{Kind:Machine,}` not yet synced to use for admission',
  ])('are of the server while it has not read the parameters of a policy: %s', async (cause) => {
    const message = `machines "m" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure ${cause}`;
    const answer = { status: 422, body: { kind: 'Status', message, reason: 'Invalid', code: 422 } };
    const error = await failing(createClientBed(answer).client.apply(MACHINES, MACHINE, APPLY));
    expect(error).toMatchObject({ code: 'ServerError', status: 422, reason: 'Invalid' });
  });

  it('are Invalid where a policy denies the object', async () => {
    const message =
      "machines 'm' is forbidden: ValidatingAdmissionPolicy 'p' denied request: paramKind is missing";
    const answer = { status: 422, body: { kind: 'Status', message, reason: 'Invalid', code: 422 } };
    const error = await failing(createClientBed(answer).client.apply(MACHINES, MACHINE, APPLY));
    expect(error.code).toBe('Invalid');
  });

  it('never quote a truncated answer, which may be a Secret', async () => {
    const secret = '{"kind":"Secret","data":{"password":"aHVudGVyMg==';
    const error = await failing(createClientBed(secret).client.get(NODES, { name: 'a' }));
    expect(JSON.stringify([error.message, error.cause, error])).not.toContain('aHVudGVyMg');
  });

  it('of a deletion are a Success or the deleted object, and nothing else', async () => {
    expect(await deletion({ body: { kind: 'Status', status: 'Success' } })).toBeUndefined();
    expect(await deletion({ body: NODE })).toEqual(NODE);
    for (const answer of [
      '',
      '{}',
      { body: { kind: 'Status', status: 'Failure' } },
      { body: { kind: 'Pod' } },
    ]) {
      expect((await failing(deletion(answer))).code).toBe('BadAnswer');
    }
  });

  it('may have no name where none was requested', async () => {
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {} as never,
      spec: {},
    };
    const resource: Resource = {
      group: 'authorization.k8s.io',
      version: 'v1',
      kind: 'SelfSubjectAccessReview',
      plural: 'selfsubjectaccessreviews',
      namespaced: false,
    };
    const answer = { ...review, status: { allowed: true } };
    expect(await createClientBed({ body: answer }).client.create(resource, review)).toEqual(answer);
  });

  it('that failed on the network keep their code, and the error names the call', async () => {
    const error = await failing(
      createClientBed(new KubeError('Timeout', 'nothing arrived within 30 s')).client.get(NODES, {
        name: 'a',
      }),
    );
    expect(error.message).toBe(`get Node a at ${SERVER}: nothing arrived within 30 s`);
    expect(error.code).toBe('Timeout');
  });
});

function deletion(answer: Answer | string): Promise<KubeObject | undefined> {
  return createClientBed(answer).client.delete(NODES, { name: 'a' }, { uid: 'u' });
}
