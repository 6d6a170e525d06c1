import { describe, expect, it } from 'vitest';
import { isSecretKey, redactCommand, redactSecrets, redactText } from './secrets.ts';

describe('secrets', () => {
  it.each(['token', 'hf_token', 'HF_TOKEN', 'api_key', 'OPENAI_API_KEY', 'redisPassword', 'AWS_SECRET_ACCESS_KEY', 'use_auth_token', 'Authorization'])(
    'takes %s for a secret', (key) => expect(isSecretKey(key)).toBe(true),
  );

  it.each(['bos_token', 'eos_token', 'max_tokens', 'tokenizer', 'stop_token_ids', 'think_end_token', 'key', 'prefix_key', 'num_tokens', 'monkey'])(
    'leaves %s readable', (key) => expect(isSecretKey(key)).toBe(false),
  );

  it('redacts nested values and keeps flags, numbers and their neighbours', () => {
    expect(redactSecrets({ a: { token: 'abc', eos_token: '</s>' }, list: [{ password: 'x', n: 1 }], use_auth_token: true })).toEqual({
      a: { token: '[redacted]', eos_token: '</s>' }, list: [{ password: '[redacted]', n: 1 }], use_auth_token: true,
    });
  });

  it('redacts inside texts', () => {
    expect(redactText('pretrained=m,token=hf_abcdefghijklmnopqrst,dtype=float16')).toBe('pretrained=m,token=[redacted],dtype=float16');
    expect(redactText('redis://user:pass@host:6379/0')).toBe('redis://[redacted]@host:6379/0');
    expect(redactText('{"api_key": "s3cret", "n": 1}')).toBe('{"api_key": [redacted], "n": 1}');
    expect(redactText('Authorization: Bearer abcdefgh12345678')).not.toContain('abcdefgh');
    expect(redactText('/etc/passwd: it is a file')).toBe('/etc/passwd: it is a file');
    expect(redactText('passwd: hunter2')).toBe('passwd: [redacted]');
    expect(redactText('use_auth_token=True')).toBe('use_auth_token=True');
    expect(redactText('max_tokens=12, eos_token=</s>')).toBe('max_tokens=12, eos_token=</s>');
  });

  it('redacts a flag\'s value on a command line', () => {
    expect(redactCommand(['run', '--hf_token', 'abc', '--tasks', 'm', '--model_args', 'pretrained=x,token=q'])).toEqual(
      ['run', '--hf_token', '[redacted]', '--tasks', 'm', '--model_args', 'pretrained=x,token=[redacted]'],
    );
  });
});
