import { expect, it } from 'vitest';
import { jsonSchemaOf } from '../../src/api/generate/json-schema.ts';
import { machineComponent } from '../../src/api/kinds/machinecomponent.ts';
import {
  CLUSTER_PLACEHOLDERS,
  DECLARED_PLACEHOLDERS,
  MACHINE_PLACEHOLDERS,
  placeholderList,
} from '../../src/api/placeholders.ts';

it('kubectl explain lists every placeholder at the content of a file', () => {
  const files = jsonSchemaOf(machineComponent.spec).properties?.['files'];
  const { description } = files?.items?.properties?.['content'] ?? {};
  for (const name of [...MACHINE_PLACEHOLDERS, ...CLUSTER_PLACEHOLDERS, ...DECLARED_PLACEHOLDERS]) {
    expect(description).toContain(placeholderList(name));
  }
});

it('a machine gives its zone', () => {
  expect(placeholderList(...MACHINE_PLACEHOLDERS)).toContain('${machine.zone}');
});
