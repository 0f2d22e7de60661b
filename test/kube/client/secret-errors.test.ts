import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KubeError, type StatusCause } from '../../../src/kube/client/errors.ts';
import { withoutSecretValues } from '../../../src/kube/client/secret-errors.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { redactFields } from '../../../src/kube/process/redact-log.ts';
import { APPLY, createClientBed, SERVER } from '../../support/kube/client-bed.ts';
import { runs } from '../../support/sweep-size.ts';

const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'x' },
  stringData: { p: 4815162342 },
};

async function errorFor(status: number, body: unknown): Promise<KubeError> {
  const { client } = createClientBed(typeof body === 'string' ? { status, body } : { status, body });
  try {
    await client.apply(SECRETS, SECRET, APPLY);
  } catch (error) {
    return error as KubeError;
  }
  throw new Error('expected an error');
}

async function refusal(
  status: number,
  reason: string | undefined,
  { message, causes = [] }: { readonly message: string; readonly causes?: readonly StatusCause[] },
): Promise<KubeError> {
  return errorFor(status, { kind: 'Status', reason, message, details: { causes } });
}

const UNTYPED =
  'failed to create typed patch object (x/s; /v1, Kind=Secret): .stringData.p: expected string, got &value.valueUnstructured{Value:4815162342}';

describe('an error of a write of a Secret', () => {
  it('names the path and the reason, and quotes no value', async () => {
    const error = await refusal(500, undefined, { message: UNTYPED });
    expect(error.message).toBe(
      `apply Secret x/s at ${SERVER}: Invalid: stringData.p (the message of the server may quote the Secret: not shown)`,
    );
    expect(JSON.stringify(redactFields({ error }))).not.toContain('4815162342');
  });

  it.each<[name: string, status: number, reason: string, message: string, field?: string]>([
    ['of an unknown form', 500, 'InternalError', 'webhook refuses 4815162342'],
    ['of a webhook', 403, 'Forbidden', 'admission webhook "w" denied the request: 4815162342 is weak'],
    ['with causes', 422, 'Invalid', 'Invalid value: "4815162342": too long', 'data[p]'],
    ['with an immutable value', 422, 'Invalid', 'Invalid value: "4815162342": field is immutable', 'data'],
  ])('%s quotes no value anywhere', async (...[, status, reason, message, field]) => {
    const causes = field === undefined ? [] : [{ reason: 'FieldValueInvalid', field, message }];
    const error = await refusal(status, reason, { message, causes });
    expect(
      JSON.stringify([error, error.message, String(error.cause), redactFields({ error })]),
    ).not.toContain('4815162342');
    expect(error.reason).toBe(reason);
    expect(error.causes.map((cause) => cause.field)).toEqual(field === undefined ? [] : [field]);
  });

  it.each([
    `ValidatingAdmissionPolicy 'tokens' with binding 'tokens-all' denied request`,
    `admission webhook "w.example.com" denied the request`,
  ])('names what denied the request: %s', async (denial) => {
    const error = await refusal(403, 'Forbidden', {
      message: `secrets "s" is forbidden: ${denial}: 4815162342`,
    });
    expect(error.message).toContain(denial);
    expect(error.message).not.toContain('4815162342');
  });

  it.each([
    ['a page of a proxy', '<html>4815162342</html>'],
    ['an object of another kind', { kind: '4815162342', apiVersion: 'v1' }],
  ])('quotes nothing of %s', async (_, body) => {
    expect((await errorFor(200, body)).message).not.toContain('4815162342');
  });

  it.each([
    [
      'the permission that is missing',
      'secrets "s" is forbidden: User "kubenode-sync" cannot patch resource "secrets" in API group "" in the namespace "x"',
      'User "kubenode-sync" cannot patch resource "secrets" in API group "" in the namespace "x"',
    ],
    ['the namespace that is missing', 'namespaces "x" not found', 'namespaces "x" not found'],
  ])('names %s', async (_, message, shown) => {
    expect((await refusal(403, 'Forbidden', { message })).message).toContain(shown);
  });

  it('names the field and the other manager of a conflict, and that a field is immutable', async () => {
    const conflict = await refusal(409, 'Conflict', {
      message: 'Apply failed with 1 conflict: conflict with "kubectl" using v1: .data.p',
      causes: [
        { reason: 'FieldManagerConflict', field: '.data.p', message: 'conflict with "kubectl" using v1' },
      ],
    });
    expect(conflict.message).toContain('.data.p: conflict with "kubectl"');
    const immutable = {
      reason: 'FieldValueForbidden',
      field: 'data',
      message: 'Forbidden: field is immutable when `immutable` is set',
    };
    const frozen = await refusal(422, 'Invalid', { message: 'no', causes: [immutable] });
    expect(frozen.causes).toEqual([{ ...immutable, message: 'field is immutable' }]);
  });

  it('quotes no value, whatever its shape and however the server, a policy or a proxy words it', () => {
    const canary = fc.stringMatching(/^[a-z0-9]{12,40}$/);
    const shape = fc.constantFrom<(value: string) => unknown>(
      (value) => value,
      (value) => [value],
      (value) => ({ inner: [value] }),
      (value) => `not base64: ${value}\n`,
      (value) => value.repeat(200),
      (value) => `"${value}" denied request`,
    );
    const wording = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => `.stringData.p: expected string, got &value.valueUnstructured{Value:${text}}`,
      (text) => `Secret "s" is invalid: data[p]: Invalid value: ${text}: illegal base64 data at input byte 4`,
      (text) => `admission webhook "w" denied the request: ${text} is weak`,
      (text) => `ValidatingAdmissionPolicy 'a' with binding 'b' denied request: ${text}`,
      (text) => `conflict with "kubectl" using v1: ${text}: field is immutable`,
      (text) => `<html>${text}</html>`,
    );
    fc.assert(
      fc.property(
        canary,
        shape,
        fc.array(wording, { minLength: 1, maxLength: 3 }),
        (value, shaped, wordings) => {
          const sent = { ...SECRET, stringData: { p: shaped(value) }, data: { p: shaped(value) } };
          const quoted = JSON.stringify(shaped(value));
          const message = wordings.map((word) => word(quoted)).join('; ');
          const causes = [{ reason: 'FieldValueInvalid', field: 'data[p]', message }];
          const received = new KubeError('Invalid', message, {
            status: 422,
            causes,
            cause: new Error(message),
          });
          const error = withoutSecretValues(received, sent) as KubeError;
          const texts = [error, error.message, error.stack, String(error.cause), redactFields({ error })];
          expect(JSON.stringify(texts)).not.toContain(value);
        },
      ),
      runs(300, 10_000),
    );
  });
});
