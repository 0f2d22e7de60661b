import { expect, it } from 'vitest';
import { pointerTo } from '../../../../src/kube/controller/writes/json-patch.ts';

it('names a field by its keys, also by those with a slash or a tilde', () => {
  expect(pointerTo('metadata', 'labels', 'a/b~c')).toBe('/metadata/labels/a~1b~0c');
  expect(pointerTo('a', '~1')).toBe('/a/~01');
  expect(pointerTo()).toBe('');
});
