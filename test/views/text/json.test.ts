import { expect, it } from 'vitest';
import { formatJson } from '../../../src/views/text/json.ts';

it('prints a document that a program reads, and that does nothing to a terminal', () => {
  const data = { message: 'red \u001b[31m', right: '\u202e' };
  const text = formatJson(data);
  expect(JSON.parse(text)).toEqual(data);
  expect(text).not.toContain('\u001b');
  expect(text).not.toContain('\u202e');
});
