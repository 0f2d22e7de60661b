import type { Check } from '../../src/api/generated/types.ts';

export function checkOf(check: Partial<Check> & { readonly name: string }): Check {
  return {
    builtin: {},
    intervalSeconds: 30,
    failureLimit: 0,
    inconclusiveLimit: 3,
    consecutiveSuccess: 1,
    ...check,
  };
}

export const NOW = new Date('2030-01-01T00:00:00Z');

export function later(seconds: number): Date {
  return new Date(+NOW + seconds * 1000);
}
