import { generateKeyPairSync, sign } from 'node:crypto'

/** A private key and the certificate that is signed with it, each as PEM. */
export interface TestCertificate {
  readonly key: string
  readonly cert: string
}

/**
 * A key and a certificate of its own for `localhost` and `127.0.0.1`. Each process makes one, so that no private key
 * is ever published; whoever connects has to trust it (`ca: testCertificate.cert`).
 *
 * Source: RFC 5280, section 4.1, written in DER (X.690).
 */
export const testCertificate: TestCertificate = makeCertificate()

function makeCertificate(): TestCertificate {
  const oid = {
    commonName: der(0x06, Buffer.from('550403', 'hex')),
    subjectAltName: der(0x06, Buffer.from('551d11', 'hex')),
    ecdsaWithSha256: der(0x06, Buffer.from('2a8648ce3d040302', 'hex')),
  }
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(oid.commonName, der(0x0c, Buffer.from('localhost')))))
  const algorithm = sequence(oid.ecdsaWithSha256)
  const localhost = der(0x82, Buffer.from('localhost'))
  const loopback = der(0x87, Buffer.from([127, 0, 0, 1]))
  const unsigned = sequence(
    der(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(utcTime('200101000000Z'), utcTime('491231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid.subjectAltName, octets(sequence(localhost, loopback))))),
  )
  const signature = sign('sha256', unsigned, privateKey)
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem(sequence(unsigned, algorithm, der(0x03, Buffer.from([0]), signature))),
  }
}

/** One value: its tag, its length and what it is made of. */
function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts)
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body])
  return Buffer.concat([Buffer.from([tag, 0x82, body.length >> 8, body.length & 0xff]), body])
}

function sequence(...parts: Uint8Array[]): Buffer {
  return der(0x30, ...parts)
}

function set(...parts: Uint8Array[]): Buffer {
  return der(0x31, ...parts)
}

function octets(content: Uint8Array): Buffer {
  return der(0x04, content)
}

/** @param value from 0 to 127 */
function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]))
}

function utcTime(time: string): Buffer {
  return der(0x17, Buffer.from(time))
}

function pem(content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
