import { describe, expect, it } from 'vitest';
import { continuePage, escapeHtml, signInPage } from '../../../../src/console/login/http/pages.ts';

describe('the sign-in page', () => {
  it('has a form that is sent to the console itself, with its hidden value', () => {
    const page = signInPage({ ways: { token: true }, formId: 'only-here' });
    expect(page).toContain('<form method="post" action="/login" autocomplete="off">');
    expect(page).toContain('<input type="hidden" name="form" value="only-here">');
    expect(page).not.toMatch(/<script|role="alert"|https?:/);
  });

  it('CON-24 shows a message as text, never as markup', () => {
    const page = signInPage({
      ways: { token: true, issuer: '<b>"issuer"</b>' },
      formId: '"><script>',
      message: `<img src=x onerror='alert(1)'>`,
    });
    expect(page).toContain('&lt;img src=x onerror=&#39;alert(1)&#39;&gt;');
    expect(page).toContain('Sign in with &lt;b&gt;&quot;issuer&quot;&lt;/b&gt;');
    expect(page).not.toMatch(/<img|<script|<b>/);
  });

  it('offers only the ways that there are', () => {
    const page = signInPage({ ways: { token: false, issuer: 'example.com' }, formId: 'x' });
    expect(page).toContain('href="/login/oidc"');
    expect(page).not.toContain('<form');
  });
});

describe('continuePage', () => {
  it('leads to the console by itself, and by a link', () => {
    expect(continuePage()).toContain('<meta http-equiv="refresh" content="0; url=/">');
    expect(continuePage()).toContain('href="/"');
  });
});

describe('escapeHtml', () => {
  it('escapes each character that has a meaning', () => {
    expect(escapeHtml(`<>&"'ü`)).toBe('&lt;&gt;&amp;&quot;&#39;ü');
  });
});
