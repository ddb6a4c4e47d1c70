package results

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"sync"

	_ "image/gif" // is read, too

	"github.com/mcp-workbench/workbench/internal/wire"
)

// Bounds of images: those of one result that are read take this many bytes in all, and none is shown with a longer side.
const (
	mostBytes = 64 << 20
	longSide  = 1024
)

// decoding is held while an image is in memory: of all results there is one at a time.
var decoding sync.Mutex

// sizeOf is how many bytes it takes at most to read an image: one that comes in several passes is there twice, or with
// all the coefficients of its blocks.
func sizeOf(data []byte, info image.Config, format string) int {
	each := 4
	if info.ColorModel == color.RGBA64Model || info.ColorModel == color.NRGBA64Model {
		each = 8
	}
	switch {
	case format == "png" && len(data) > 28 && data[28] != 0: // PNG, section 11.2.2: the interlace method
		each *= 2
	case format == "jpeg" && bytes.Contains(data, []byte{0xff, 0xc2}): // ITU-T T.81, table B.1: a progressive frame
		each *= 4
	}
	return info.Width * info.Height * each
}

// scaled gives an image of the content made smaller, or as it is where it is small, cannot be read, or takes more bytes
// than are left.
func scaled(raw []byte, it *item, left *int) []byte {
	whole := raw[it.at.Start:it.at.End]
	token, ok := wire.Unquote(raw[it.text.Start:it.text.End])
	if !ok {
		return whole
	}
	data, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return whole
	}
	info, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || max(info.Width, info.Height) <= longSide {
		return whole
	}
	size := sizeOf(data, info, format)
	if size > *left {
		return whole
	}
	*left -= size
	decoding.Lock()
	defer decoding.Unlock()
	from, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return whole
	}
	var out bytes.Buffer
	mime := "image/png"
	if format == "jpeg" {
		mime = "image/jpeg"
		err = jpeg.Encode(&out, smaller(from), nil)
	} else {
		err = png.Encode(&out, smaller(from))
	}
	if err != nil {
		return whole
	}
	piece := wire.NewObject(nil).Text("type", "image").Text("mimeType", mime)
	return piece.Text("data", base64.StdEncoding.EncodeToString(out.Bytes())).End()
}

// smaller makes an image whose longer side is longSide: each of its pixels is the mean of those that it stands for.
func smaller(from image.Image) image.Image {
	b := from.Bounds()
	long := max(b.Dx(), b.Dy())
	w, h := max(b.Dx()*longSide/long, 1), max(b.Dy()*longSide/long, 1)
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := b.Min.Y+y*b.Dy()/h, b.Min.Y+(y+1)*b.Dy()/h
		for x := range w {
			x0, x1 := b.Min.X+x*b.Dx()/w, b.Min.X+(x+1)*b.Dx()/w
			var sum [4]uint64
			for yy := y0; yy < y1; yy++ {
				for xx := x0; xx < x1; xx++ {
					r, g, bl, a := from.At(xx, yy).RGBA()
					sum[0], sum[1], sum[2], sum[3] = sum[0]+uint64(r), sum[1]+uint64(g), sum[2]+uint64(bl), sum[3]+uint64(a)
				}
			}
			n := uint64((y1 - y0) * (x1 - x0))
			to.SetRGBA(x, y, color.RGBA{R: uint8(sum[0] / n >> 8), G: uint8(sum[1] / n >> 8), B: uint8(sum[2] / n >> 8), A: uint8(sum[3] / n >> 8)})
		}
	}
	return to
}
