import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { COMPILED, copyCompiledCode } from './compiled-code.ts';
import { tempFolder } from './temp.ts';

it('gives a copy of a checkout what was compiled in the original, if anything was', () => {
  const [original, copy, other] = [tempFolder('original'), tempFolder('copy'), tempFolder('other')];
  mkdirSync(join(original, COMPILED, 'v26'), { recursive: true });
  writeFileSync(join(original, COMPILED, 'v26', '004267ee'), 'code');
  copyCompiledCode(original, copy);
  expect(readFileSync(join(copy, COMPILED, 'v26', '004267ee'), 'utf8')).toBe('code');
  expect(() => copyCompiledCode(other, copy)).not.toThrow();
});
