import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { referenceIndex, referencePage } from '../scripts/reference.ts';
import { type CrdManifest, readCrds } from '../src/cli/checks/crds.ts';

const NODE: CrdManifest = {
  spec: {
    group: 'kubenode.dev',
    names: { kind: 'Part', plural: 'parts', shortNames: ['kp'] },
    versions: [
      {
        name: 'v1',
        schema: {
          openAPIV3Schema: {
            description: 'A part. It has a size.',
            properties: {
              spec: {
                required: ['size'],
                properties: {
                  size: {
                    type: 'string',
                    enum: ['Small', 'Large'],
                    description: 'Its size.',
                    'x-kubernetes-validations': [{ rule: 'true', message: 'the size stays' }],
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

describe('the reference of a kind', () => {
  it('has every field with its type, its limits and its rules', () => {
    const page = referencePage(NODE);
    expect(page).toContain('# Part\n');
    expect(page).toContain('`kubenode.dev/v1`, plural `parts`, short name `kp`');
    expect(page).toContain('| `spec.size` | string | **required**, `Small\\|Large` | Its size. |');
    expect(page).toContain('- `spec.size`: the size stays');
    expect(referenceIndex([NODE])).toContain('| [Part](part.md) | A part. |');
  });

  it.each(readCrds().map((crd) => [crd.spec.names.kind, crd] as const))('is written for %s', (kind, crd) => {
    const file = new URL(`../docs/reference/kinds/${kind.toLowerCase()}.md`, import.meta.url);
    expect(readFileSync(file, 'utf8')).toBe(referencePage(crd));
  });
});
