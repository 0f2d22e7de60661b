import { describe, expect, it } from 'vitest';
import { redirectTarget } from '../../../src/os/net/redirect.ts';

describe('redirectTarget', () => {
  it.each([
    ['https://a.example.com/x/y', '../z', 'https://a.example.com/z'],
    ['https://a.example.com/x', 'https://b.example.com/', 'https://b.example.com/'],
    ['http://a.example.com/x', 'https://a.example.com/x', 'https://a.example.com/x'],
    ['http://a.example.com/x', 'http://b.example.com/', 'http://b.example.com/'],
    ['https://a.example.com/x', 'http://a.example.com/x', undefined],
    ['http://a.example.com/x', 'file:///etc/passwd', undefined],
    ['https://a.example.com/x', 'https://', undefined],
  ])('from %s by %s leads to %s', (from, location, expected) => {
    expect(redirectTarget(from, location)).toBe(expected);
  });
});
